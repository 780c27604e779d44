package keymap

// Actions on the list of sessions.
const (
	SortSessions   Action = "sessions.sort"
	TogglePreview  Action = "sessions.preview"
	NewSession     Action = "sessions.create"
	DecideRequest  Action = "sessions.decide"
	DenySessions   Action = "sessions.deny"
	SendSessions   Action = "sessions.send"
	MarkSession    Action = "sessions.mark"
	MarkShown      Action = "sessions.mark-all"
	LabelSession   Action = "sessions.label"
	CompareAgents  Action = "sessions.compare"
	ArchiveSession Action = "sessions.archive"
	PinSession     Action = "sessions.pin"
)

var sessions = []row{
	{DecideRequest, keys{"y"}, "show the request", &word{"decide", OnDashboard, 50}},
	{NewSession, keys{"+"}, "new session", &word{"new", OnBoth, 30}},
	{TogglePreview, keys{"p"}, "preview", &word{"preview", OnDashboard, 180}},
	{SortSessions, keys{"O"}, "group by need, project, label or server", &word{"sort", OnDashboard, 170}},
	{LabelSession, keys{"l"}, "labels", nil},
	{MarkSession, keys{"space"}, "mark; skip a request", nil},
	{MarkShown, keys{"*"}, "mark all or none", nil},
	{SendSessions, keys{"m"}, "message to marked", nil},
	{CompareAgents, nil, "same task to several agents", &word{"compare", OnBoth, 35}},
	{ArchiveSession, nil, "archive or restore", &word{"archive", OnDashboard, 310}},
	{PinSession, nil, "pin or unpin", &word{"pin", OnDashboard, 320}},
	{DenySessions, keys{"n"}, "deny, with a reason", nil},
}
