"""What calls answer: frozen values, one module a noun; places and receipts stay the contract's own messages."""
