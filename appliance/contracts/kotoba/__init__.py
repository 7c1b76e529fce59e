"""Tool modules: one file, one SCHEMA, one ``execute``. Start reading at ``contract.py``."""
