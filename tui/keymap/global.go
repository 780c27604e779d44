package keymap

// Actions of every place. Those without keys are commands only.
const (
	Help           Action = "help"
	OpenPalette    Action = "palette"
	Interrupt      Action = "interrupt"
	ShowSessions   Action = "sessions"
	ShowSettings   Action = "settings"
	ShowRules      Action = "rules"
	Reconnect      Action = "retry"
	ShowContext    Action = "context"
	NextPending    Action = "next-need"
	ShowChanges    Action = "changes"
	JumpSession    Action = "jump"
	NextTheme      Action = "next-theme"
	ToggleSide     Action = "side"
	FocusNext      Action = "next-part"
	FocusPrevious  Action = "previous-part"
	PageUp         Action = "page-up"
	PageDown       Action = "page-down"
	Top            Action = "top"
	Bottom         Action = "end"
	PreviousTurn   Action = "previous-turn"
	NextTurn       Action = "next-turn"
	ToggleLast     Action = "fold-last"
	Find           Action = "find"
	SearchPrompts  Action = "search-messages"
	TakeBack       Action = "take-back"
	OpenEditor     Action = "editor"
	EarlierMessage Action = "earlier-message"
	LaterMessage   Action = "later-message"
	ShowOutline    Action = "outline"
	Redraw         Action = "redraw"
	ReleaseQueue   Action = "release"
	ClearQueue     Action = "clear"
	ChooseTheme    Action = "theme"
	ChooseImages   Action = "images"
	ExportSession  Action = "export"
	HoldQueue      Action = "hold"
	SetMode        Action = "mode"
	SetModel       Action = "model"
	UndoTurn       Action = "undo"
	RepeatTurn     Action = "repeat"
	ForkSession    Action = "fork"
	CopyLast       Action = "copy-last"
	Quit           Action = "quit"
	Suspend        Action = "suspend"
)

var global = []row{
	{Help, keys{"f1", "alt+h"}, "this help", &word{"help", OnBoth, 500}},
	{OpenPalette, keys{"ctrl+k"}, "all commands by name", nil},
	{Interrupt, keys{"ctrl+x"}, "interrupt the turn and hold the queue", &word{"interrupt", OnSession, 240}},
	{ShowSessions, keys{"f2", "ctrl+s"}, "list all sessions", &word{"sessions", OnSession, 10}},
	{ShowSettings, keys{"f3", "alt+s"}, "settings of the agent: mode, model", &word{"settings", OnSession, 80}},
	{ShowRules, keys{"f4", "alt+u"}, "rules that answer requests: list, revoke", &word{"rules", OnSession, 90}},
	{Reconnect, keys{"f5", "alt+y"}, "connect now", &word{"retry", OnBoth, 480}},
	{ShowContext, keys{"f6", "alt+i"}, "context usage; compact the context", &word{"context", OnSession, 100}},
	{NextPending, keys{"f8", "alt+n"}, "next session that needs you, then back", &word{"next", OnBoth, 20}},
	{ShowChanges, keys{"f9", "alt+c"}, "files changed in this session", nil},
	{JumpSession, keys{"alt+g"}, "jump to a session by name, title, label or directory", nil},
	{NextTheme, keys{"alt+l"}, "next theme of colours", nil},
	{ToggleSide, keys{"alt+p"}, "show or hide plan, queue, files, context, people", &word{"side", OnSession, 310}},
	{FocusNext, keys{"tab"}, "next panel: approval, queue, plan, transcript, composer", nil},
	{FocusPrevious, keys{"shift+tab"}, "previous panel", nil},
	{PageUp, keys{"pgup"}, "scroll the transcript up", nil},
	{PageDown, keys{"pgdown"}, "scroll the transcript down", nil},
	{Top, keys{"ctrl+home"}, "go to the start of the transcript", &word{"top", OnSession, 210}},
	{Bottom, keys{"ctrl+end"}, "go to the end and follow", &word{"end", OnSession, 220}},
	{PreviousTurn, keys{"alt+up"}, "previous turn", nil},
	{NextTurn, keys{"alt+down"}, "next turn", nil},
	{ToggleLast, keys{"ctrl+o"}, "expand or collapse the tool calls and thoughts", &word{"expand", OnSession, 200}},
	{Find, keys{"ctrl+f"}, "search the transcript; in the list: all sessions", &word{"find", OnBoth, 150}},
	{SearchPrompts, keys{"ctrl+r"}, "search your earlier messages", nil},
	{TakeBack, keys{"alt+t"}, "take back an unsent message", &word{"takeback", OnSession, 280}},
	{OpenEditor, keys{"ctrl+g"}, "the message or a field in $VISUAL or $EDITOR", &word{"editor", OnSession, 230}},
	{EarlierMessage, keys{"ctrl+p"}, "previous message of yours", nil},
	{LaterMessage, keys{"ctrl+n"}, "next message of yours", nil},
	{ShowOutline, keys{"f10", "alt+o"}, "turns of the session: filter, go to one", nil},
	{Redraw, keys{"ctrl+l"}, "redraw the screen", &word{"redraw", OnBoth, 490}},
	{ReleaseQueue, keys{"alt+r"}, "release the queue", &word{"release", OnSession, 260}},
	{ClearQueue, keys{"alt+q"}, "clear the queue", &word{"clear", OnSession, 270}},
	{ChooseTheme, nil, "theme of colours", &word{"theme", OnBoth, 330}},
	{ChooseImages, nil, "how images are drawn", &word{"images", OnBoth, 340}},
	{ExportSession, nil, "save the session as a document", &word{"export", OnSession, 320}},
	{HoldQueue, nil, "hold the queue", &word{"hold", OnSession, 250}},
	{SetMode, nil, "mode of the agent", &word{"mode", OnSession, 60}},
	{SetModel, nil, "model of the agent", &word{"model", OnSession, 70}},
	{UndoTurn, nil, "the agent forgets its last turn; its files are restored", &word{"undo", OnSession, 120}},
	{RepeatTurn, nil, "the agent forgets its last turn and gets its message again", &word{"repeat", OnSession, 130}},
	{ForkSession, nil, "a new session with the turns of this one", &word{"fork", OnSession, 140}},
	{CopyLast, nil, "copy the last text of the agent", &word{"copy", OnSession, 190}},
	{Quit, nil, "leave; the session continues", &word{"quit", OnBoth, 510}},
	{Suspend, keys{"ctrl+z"}, "suspend; for ten seconds after a removal: undo it", nil},
}

// Actions of sessions side by side. They work in every part of the screen.
const (
	SplitRight   Action = "pane.split-right"
	SplitBelow   Action = "pane.split-below"
	PaneLeft     Action = "pane.left"
	PaneRight    Action = "pane.right"
	PaneUp       Action = "pane.up"
	PaneDown     Action = "pane.down"
	NextPane     Action = "pane.next"
	ZoomPane     Action = "pane.zoom"
	WiderPane    Action = "pane.wider"
	NarrowerPane Action = "pane.narrower"
	TallerPane   Action = "pane.taller"
	ShorterPane  Action = "pane.shorter"
	ClosePane    Action = "pane.close"
	SendPanes    Action = "pane.send"
)

var panes = []row{
	{SplitRight, keys{"alt+v"}, "split right: another session beside this one", &word{"split-right", OnBoth, 350}},
	{SplitBelow, keys{"alt+m"}, "split below: another session below this one", &word{"split-below", OnBoth, 360}},
	{PaneLeft, keys{"alt+shift+h"}, "focus the session on the left", &word{"pane-left", OnSession, 370}},
	{PaneRight, keys{"alt+shift+l"}, "focus the session on the right", &word{"pane-right", OnSession, 380}},
	{PaneUp, keys{"alt+shift+k"}, "focus the session above", &word{"pane-up", OnSession, 390}},
	{PaneDown, keys{"alt+shift+j"}, "focus the session below", &word{"pane-down", OnSession, 400}},
	{NextPane, keys{"alt+a"}, "focus the next session", &word{"pane-next", OnSession, 410}},
	{ZoomPane, keys{"alt+z"}, "zoom: this session only, then all again", &word{"pane-zoom", OnSession, 420}},
	{WiderPane, keys{"alt+."}, "wider", &word{"pane-wider", OnSession, 430}},
	{NarrowerPane, keys{"alt+,"}, "narrower", &word{"pane-narrower", OnSession, 440}},
	{TallerPane, keys{"alt+="}, "taller", &word{"pane-taller", OnSession, 450}},
	{ShorterPane, keys{"alt+-"}, "shorter", &word{"pane-shorter", OnSession, 460}},
	{SendPanes, nil, "send the text after it to all sessions on the screen", &word{"all", OnSession, 475}},
	{ClosePane, keys{"alt+e"}, "remove this session from the screen; it continues", &word{"pane-close", OnSession, 470}},
}

// Actions of the tour.
const (
	SkipStep Action = "tour.skip"
)

var tour = []row{
	{SkipStep, keys{"alt+k"}, "skip the step of the tour", nil},
}
