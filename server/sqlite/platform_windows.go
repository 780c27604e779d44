package sqlite

// changeTime returns 0. Windows has no file time that a copy does not preserve, so only the content
// of the file is compared.
func changeTime(string) (int64, error) { return 0, nil }
