package keymap

// Actions of every place. Those without keys are commands only.
const (
	Help          Action = "help"
	OpenPalette   Action = "palette"
	Interrupt     Action = "interrupt"
	ShowSessions  Action = "sessions"
	ShowSettings  Action = "settings"
	ShowRules     Action = "rules"
	Reconnect     Action = "retry"
	ShowContext   Action = "context"
	NextPending   Action = "next-need"
	ShowChanges   Action = "changes"
	JumpSession   Action = "jump"
	ToggleSide    Action = "side"
	FocusNext     Action = "next-part"
	FocusPrevious Action = "previous-part"
	PageUp        Action = "page-up"
	PageDown      Action = "page-down"
	Top           Action = "top"
	Bottom        Action = "end"
	PreviousTurn  Action = "previous-turn"
	NextTurn      Action = "next-turn"
	ToggleLast    Action = "fold-last"
	Find          Action = "find"
	SearchPrompts Action = "search-messages"
	TakeBack      Action = "take-back"
	OpenEditor    Action = "editor"
	ShowOutline   Action = "outline"
	Redraw        Action = "redraw"
	ReleaseQueue  Action = "release"
	ClearQueue    Action = "clear"
	RenameSession Action = "rename"
	PanePrefix    Action = "pane"
	ChooseTheme   Action = "theme"
	SwitchMouse   Action = "mouse"
	ExportSession Action = "export"
	SetMode       Action = "mode"
	SetModel      Action = "model"
	UndoTurn      Action = "undo"
	RepeatTurn    Action = "repeat"
	ForkSession   Action = "fork"
	CopyLast      Action = "copy-last"
	Quit          Action = "quit"
	Suspend       Action = "suspend"
)

var global = []row{
	{Help, keys{"f1", "alt+h"}, "help", &word{"help", OnBoth, 500}},
	{OpenPalette, keys{"ctrl+k"}, "commands", nil},
	{Interrupt, keys{"ctrl+x"}, "interrupt, hold the queue", &word{"interrupt", OnSession, 240}},
	{ShowSessions, keys{"f2", "ctrl+s"}, "sessions", &word{"sessions", OnSession, 10}},
	{ShowSettings, keys{"f3", "alt+s"}, "settings: mode, model", &word{"settings", OnSession, 80}},
	{ShowRules, keys{"f4", "alt+u"}, "rules: list, revoke", &word{"rules", OnSession, 90}},
	{Reconnect, keys{"f5", "alt+y"}, "connect now", &word{"retry", OnBoth, 480}},
	{ShowContext, keys{"f6", "alt+i"}, "context: usage, compact", &word{"context", OnSession, 100}},
	{NextPending, keys{"f8", "alt+n"}, "next that needs you, then back", &word{"next", OnBoth, 20}},
	{ShowChanges, keys{"f9", "alt+c"}, "changed files", &word{"changes", OnSession, 105}},
	{JumpSession, keys{"alt+g"}, "jump to a session", &word{"jump", OnBoth, 15}},
	{PanePrefix, keys{"alt+w"}, "side by side: then a key below", nil},
	{ToggleSide, keys{"alt+p"}, "show or hide the side column", &word{"side", OnSession, 310}},
	{FocusNext, keys{"tab"}, "next panel", nil},
	{FocusPrevious, keys{"shift+tab"}, "previous panel", nil},
	{PageUp, keys{"pgup"}, "page up", nil},
	{PageDown, keys{"pgdown"}, "page down", nil},
	{Top, keys{"ctrl+home"}, "start", &word{"top", OnSession, 210}},
	{Bottom, keys{"ctrl+end"}, "end, follow", &word{"end", OnSession, 220}},
	{PreviousTurn, keys{"alt+up"}, "previous turn", nil},
	{NextTurn, keys{"alt+down"}, "next turn", nil},
	{ToggleLast, keys{"ctrl+o"}, "expand or collapse all", &word{"expand", OnSession, 200}},
	{Find, keys{"ctrl+f"}, "search", &word{"find", OnBoth, 150}},
	{SearchPrompts, keys{"ctrl+r"}, "search your messages", &word{"history", OnSession, 157}},
	{TakeBack, keys{"alt+t"}, "take back an unsent message", &word{"takeback", OnSession, 280}},
	{OpenEditor, keys{"ctrl+g"}, "write in $EDITOR", &word{"editor", OnSession, 230}},
	{ShowOutline, keys{"f10", "alt+o"}, "turns", &word{"turns", OnSession, 155}},
	{Redraw, keys{"ctrl+l"}, "redraw", &word{"redraw", OnBoth, 490}},
	{ReleaseQueue, keys{"alt+r"}, "release the queue", &word{"release", OnSession, 260}},
	{ClearQueue, nil, "clear the queue", &word{"clear", OnSession, 270}},
	{ChooseTheme, nil, "theme", &word{"theme", OnBoth, 330}},
	{SwitchMouse, keys{"alt+m"}, "mouse: clicks, or the terminal selects", &word{"mouse", OnBoth, 335}},
	{ExportSession, nil, "save as a document", &word{"export", OnSession, 320}},
	{SetMode, nil, "mode", &word{"mode", OnSession, 60}},
	{SetModel, nil, "model", &word{"model", OnSession, 70}},
	{UndoTurn, nil, "forget the last turn, restore its files", &word{"undo", OnSession, 120}},
	{RepeatTurn, nil, "run the last turn again", &word{"repeat", OnSession, 130}},
	{RenameSession, nil, "rename", &word{"rename", OnBoth, 290}},
	{ForkSession, nil, "new session with these turns", &word{"fork", OnSession, 140}},
	{CopyLast, nil, "copy the last answer", &word{"copy", OnSession, 190}},
	{Quit, nil, "leave; the session continues", &word{"quit", OnBoth, 510}},
	{Suspend, keys{"ctrl+z"}, "undo a removal or ctrl+c; else suspend", nil},
}

// Actions of sessions side by side. Their keys follow the key of [PanePrefix].
const (
	SplitRight  Action = "pane.split-right"
	SplitBelow  Action = "pane.split-below"
	PaneLeft    Action = "pane.left"
	PaneRight   Action = "pane.right"
	PaneUp      Action = "pane.up"
	PaneDown    Action = "pane.down"
	NextPane    Action = "pane.next"
	ZoomPane    Action = "pane.zoom"
	LargerPane  Action = "pane.larger"
	SmallerPane Action = "pane.smaller"
	ClosePane   Action = "pane.close"
	SendPanes   Action = "pane.send"
)

var panes = []row{
	{SplitRight, keys{"v"}, "another session on the right", &word{"split-right", OnBoth, 350}},
	{SplitBelow, keys{"s"}, "another session below", &word{"split-below", OnBoth, 360}},
	{PaneLeft, keys{"left", "h"}, "focus the left one", &word{"pane-left", OnSession, 370}},
	{PaneRight, keys{"right", "l"}, "focus the right one", &word{"pane-right", OnSession, 380}},
	{PaneUp, keys{"up", "k"}, "focus the upper one", &word{"pane-up", OnSession, 390}},
	{PaneDown, keys{"down", "j"}, "focus the lower one", &word{"pane-down", OnSession, 400}},
	{NextPane, keys{"w", "alt+w"}, "focus the next one", &word{"pane-next", OnSession, 410}},
	{ZoomPane, keys{"z"}, "this one only, or all", &word{"pane-zoom", OnSession, 420}},
	{LargerPane, keys{"+", "="}, "larger", &word{"pane-larger", OnSession, 430}},
	{SmallerPane, keys{"-"}, "smaller", &word{"pane-smaller", OnSession, 440}},
	{SendPanes, nil, "send a text to all on the screen", &word{"all", OnSession, 475}},
	{ClosePane, keys{"c"}, "off the screen; it continues", &word{"pane-close", OnSession, 470}},
}

// Actions of the tour.
const (
	SkipStep Action = "tour.skip"
)

var tour = []row{
	{SkipStep, keys{"alt+k"}, "skip the step", nil},
}
