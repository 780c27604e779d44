package sqlite

// changeTime knows no time here that a copy does not carry over; the text of the file has to do.
func changeTime(string) (int64, error) { return 0, nil }
