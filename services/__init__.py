"""What both servers share and neither owns: errors, status mapping, settings, server bootstrap, identity, logs; never a service."""
