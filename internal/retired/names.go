package retired

// Names lists all retired names. A row stays for ever: files of users outlive versions.
var Names = []Name{
	{Action, "transcript.point", "2026-11", "nothing; say which item you mean in a message"},
	{Action, "go-to-pointer", "2026-11", "nothing; users no longer point at items"},
}
