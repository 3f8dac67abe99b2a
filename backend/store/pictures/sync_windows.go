package pictures

// syncFolder does nothing: NTFS keeps names in a journal of its own, and folders cannot be synced.
func syncFolder(string) error { return nil }
