// GLibRuntime
