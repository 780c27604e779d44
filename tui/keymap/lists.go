package keymap

// Actions of all lists: queue, plan, approval, transcript, sessions, menus, pagers and reviews. A place
// carries out those that make sense there. In a list with a text field keys that write go into the field.
const (
	Up            Action = "list.up"
	Down          Action = "list.down"
	First         Action = "list.first"
	Last          Action = "list.last"
	Choose        Action = "list.choose"
	Complete      Action = "list.complete"
	Back          Action = "list.back"
	Previous      Action = "list.previous"
	Next          Action = "list.next"
	PreviousStep  Action = "list.previous-step"
	NextStep      Action = "list.next-step"
	ListFind      Action = "list.find"
	NextMatch     Action = "list.next-match"
	PreviousMatch Action = "list.previous-match"
	ViewWhole     Action = "list.view"
	Edit          Action = "list.edit"
	Open          Action = "list.open"
	Copy          Action = "list.copy"
	ListFiles     Action = "list.files"
	DiffLayout    Action = "list.layout"
	Fold          Action = "list.fold"
	Remove        Action = "list.remove"
	ListHelp      Action = "list.help"
)

var lists = []row{
	{Up, keys{"up", "k", "ctrl+p"}, "up", nil},
	{Down, keys{"down", "j", "ctrl+n"}, "down", nil},
	{First, keys{"home", "g"}, "first", nil},
	{Last, keys{"end", "G"}, "last", nil},
	{Choose, keys{"enter", "space"}, "choose", nil},
	{Complete, keys{"tab"}, "complete", nil},
	{Back, keys{"esc", "q"}, "back", nil},
	{Previous, keys{"[", "left"}, "previous turn, request or file", nil},
	{Next, keys{"]", "right"}, "next turn, request or file", nil},
	{PreviousStep, keys{"K"}, "previous hunk or tool call", nil},
	{NextStep, keys{"J"}, "next hunk or tool call", nil},
	{ListFind, keys{"/"}, "search, or filter the sessions", &word{"filter", OnDashboard, 160}},
	{NextMatch, keys{">"}, "next match", nil},
	{PreviousMatch, keys{"<"}, "previous match", nil},
	{ViewWhole, keys{"v"}, "view whole, or back", nil},
	{Edit, keys{"e"}, "edit; open a named file in the editor", nil},
	{Open, keys{"o"}, "open", nil},
	{Copy, keys{"c"}, "copy; again: the next code block", nil},
	{ListFiles, keys{"f"}, "changed files", nil},
	{DiffLayout, keys{"d"}, "diff layout", nil},
	{Fold, keys{"z"}, "fold", nil},
	{Remove, keys{"X", "delete"}, "remove, close, cancel, revoke or compact", &word{"close", OnDashboard, 300}},
	{ListHelp, keys{"?"}, "help; again: all keys", nil},
}

// Actions of a long text.
const (
	PagerPageDown Action = "pager.page-down"
)

var pager = []row{
	{PagerPageDown, keys{"space"}, "page down", nil},
}
