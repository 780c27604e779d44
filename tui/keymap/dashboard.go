package keymap

// Actions on the list of sessions.
const (
	FilterSessions Action = "sessions.filter"
	SearchSessions Action = "sessions.find"
	SortSessions   Action = "sessions.sort"
	TogglePreview  Action = "sessions.preview"
	NewSession     Action = "sessions.create"
	CompareAgents  Action = "sessions.compare"
	RenameSession  Action = "sessions.rename"
	CloseOrDelete  Action = "sessions.end"
	DecideRequest  Action = "sessions.decide"
	DenySessions   Action = "sessions.deny"
	StopSessions   Action = "sessions.interrupt"
	SendSessions   Action = "sessions.send"
	MarkSession    Action = "sessions.mark"
	MarkShown      Action = "sessions.mark-all"
	ToggleChildren Action = "sessions.children"
	LabelSession   Action = "sessions.label"
	ArchiveSession Action = "sessions.archive"
	PinSession     Action = "sessions.pin"
	OpenSession    Action = "sessions.open"
	SessionsHelp   Action = "sessions.help"
)

var sessions = []row{
	{FilterSessions, keys{"/"}, "filter by words", &word{"filter", OnDashboard, 160}},
	{SearchSessions, keys{"f"}, "search all sessions", nil},
	{SortSessions, keys{"s"}, "sort, or group by project, label or server", &word{"sort", OnDashboard, 170}},
	{TogglePreview, keys{"p"}, "show or hide the preview", &word{"preview", OnDashboard, 180}},
	{NewSession, keys{"n"}, "create a session", &word{"new", OnBoth, 30}},
	{CompareAgents, nil, "the same task to several agents, side by side", &word{"compare", OnBoth, 35}},
	{RenameSession, keys{"R"}, "rename the session", &word{"rename", OnBoth, 290}},
	{
		CloseOrDelete,
		keys{"X", "delete"},
		"close or delete the session, or all marked ones",
		&word{"close", OnDashboard, 300},
	},
	{
		DecideRequest,
		keys{"y", "d"},
		"show the pending request; with marks one after the other",
		&word{"decide", OnDashboard, 50},
	},
	{DenySessions, keys{"N"}, "deny the requests of the marked sessions, with a reason", nil},
	{StopSessions, keys{"i"}, "interrupt the turns of the marked sessions", nil},
	{SendSessions, keys{"m"}, "send a message to the marked sessions", nil},
	{MarkSession, keys{"space"}, "mark the session for an action on several, or unmark it; skip a request", nil},
	{MarkShown, keys{"*"}, "mark all sessions that the filter shows, or none", nil},
	{ToggleChildren, keys{"t"}, "show or hide the sessions that its agent created", nil},
	{LabelSession, keys{"l"}, "change the labels of the session", nil},
	{ArchiveSession, nil, "archive the session, or take it back", &word{"archive", OnDashboard, 310}},
	{PinSession, nil, "pin the session to the top of its group, or unpin it", &word{"pin", OnDashboard, 320}},
	{OpenSession, keys{"o"}, "open the session", &word{"open", OnDashboard, 40}},
	{SessionsHelp, keys{"?"}, "this help", nil},
}

// Actions on the results of a search.
const (
	NewSearch Action = "found.find"
)

var searchResults = []row{
	{NewSearch, keys{"/"}, "new search; enter opens the match", nil},
}
