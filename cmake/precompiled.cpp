// Empty: of a target with precompiled headers only those are used.
