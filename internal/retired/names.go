package retired

// Names lists all retired names. A row stays for ever: files of users outlive versions.
var Names = []Name{
	{
		Verb, "top", "2026-11",
		"agentctl watch --columns name,status,turn,rate,lag; agentctl ls --columns name,status,turn,lag prints them once",
	},
	{Action, "transcript.point", "2026-11", "nothing; say which item you mean in a message"},
	{Action, "go-to-pointer", "2026-11", "nothing; users no longer point at items"},
	{Action, "wire", "2026-11", "agentctl attach --wire FILE"},
	{Action, "wire.find", "2026-11", "agentctl attach --wire FILE, and jq or a pager on the file"},
	{Action, "wire.direction", "2026-11", "agentctl attach --wire FILE, and jq or a pager on the file"},
	{Action, "wire.type", "2026-11", "agentctl attach --wire FILE, and jq or a pager on the file"},
	{Action, "wire.pause", "2026-11", "agentctl attach --wire FILE"},
	{Action, "wire.copy", "2026-11", "agentctl attach --wire FILE"},
	{Action, "wire.save", "2026-11", "agentctl attach --wire FILE"},
	{Action, "wire.page-up", "2026-11", "agentctl attach --wire FILE"},
	{Action, "wire.page-down", "2026-11", "agentctl attach --wire FILE"},
	{Action, "wire.leave", "2026-11", "agentctl attach --wire FILE"},
	{Action, "sessions-column", "2026-11", "F2 lists the sessions, alt+v and alt+m show others side by side"},
	{Action, "previous-session", "2026-11", "alt+g jumps to a session by name, F8 to the next one that needs you"},
	{Action, "next-session", "2026-11", "alt+g jumps to a session by name, F8 to the next one that needs you"},
	{Setting, "composer", "2026-11", "ctrl+g opens a message in $VISUAL or $EDITOR, such as vi; text fields have the keys of emacs"},
}
