package retired

// Names lists all retired names. A row stays for ever: files of users outlive versions.
var Names = []Name{
	{
		Verb, "top", "2026-11",
		"agentctl watch --columns name,status,turn,rate,lag; agentctl ls --columns name,status,turn,lag prints them once",
	},
	{Action, "transcript.point", "2026-11", "nothing; say which item you mean in a message"},
	{Action, "go-to-pointer", "2026-11", "nothing; users no longer point at items"},
}
