"""The page in the owner's browser: it looks and configures, and never approves. Imported only where it is on."""
