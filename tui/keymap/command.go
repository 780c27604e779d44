package keymap

import "slices"

// Screens is a set of screens.
type Screens uint8

// The screens that have a palette.
const (
	OnSession Screens = 1 << iota
	OnDashboard
)

// Command is a word that runs an action of a screen. The palette lists the commands; in a message
// box a command follows a slash. An agent's command of the same name is typed with two slashes.
type Command struct {
	Name    string
	Action  Action
	Screens Screens
}

// Commands lists all commands in the order of the palette.
var Commands = []Command{
	{"sessions", ShowSessions, OnSession},
	{"next", NextPending, OnSession | OnDashboard},
	{"new", NewSession, OnSession | OnDashboard},
	{"open", OpenSession, OnDashboard},
	{"decide", DecideRequest, OnDashboard},
	{"mode", SetMode, OnSession},
	{"model", SetModel, OnSession},
	{"settings", ShowSettings, OnSession},
	{"rules", ShowRules, OnSession},
	{"context", ShowContext, OnSession},
	{"compact", Compact, OnSession},
	{"undo", UndoTurn, OnSession},
	{"repeat", RepeatTurn, OnSession},
	{"fork", ForkSession, OnSession},
	{"find", Find, OnSession | OnDashboard},
	{"filter", FilterSessions, OnDashboard},
	{"sort", SortSessions, OnDashboard},
	{"preview", TogglePreview, OnDashboard},
	{"copy", CopyLast, OnSession},
	{"expand", ToggleLast, OnSession},
	{"top", Top, OnSession},
	{"end", Bottom, OnSession},
	{"editor", OpenEditor, OnSession},
	{"interrupt", Interrupt, OnSession},
	{"hold", HoldQueue, OnSession},
	{"release", ReleaseQueue, OnSession},
	{"clear", ClearQueue, OnSession},
	{"takeback", TakeBack, OnSession},
	{"rename", RenameSession, OnSession | OnDashboard},
	{"close", CloseOrDelete, OnDashboard},
	{"side", ToggleSide, OnSession},
	{"export", ExportSession, OnSession},
	{"theme", ChooseTheme, OnSession | OnDashboard},
	{"images", ChooseImages, OnSession | OnDashboard},
	{"split-right", SplitRight, OnSession | OnDashboard},
	{"split-below", SplitBelow, OnSession | OnDashboard},
	{"pane-left", PaneLeft, OnSession},
	{"pane-right", PaneRight, OnSession},
	{"pane-up", PaneUp, OnSession},
	{"pane-down", PaneDown, OnSession},
	{"pane-next", NextPane, OnSession},
	{"pane-zoom", ZoomPane, OnSession},
	{"pane-wider", WiderPane, OnSession},
	{"pane-narrower", NarrowerPane, OnSession},
	{"pane-taller", TallerPane, OnSession},
	{"pane-shorter", ShorterPane, OnSession},
	{"pane-close", ClosePane, OnSession},
	{"retry", Reconnect, OnSession | OnDashboard},
	{"redraw", Redraw, OnSession | OnDashboard},
	{"help", Help, OnSession | OnDashboard},
	{"quit", Quit, OnSession | OnDashboard},
}

// CommandNamed returns the command with a name.
func CommandNamed(name string) (Command, bool) {
	i := slices.IndexFunc(Commands, func(c Command) bool { return c.Name == name })
	if i < 0 {
		return Command{}, false
	}
	return Commands[i], true
}

// DefinitionOf returns the definition of an action.
func DefinitionOf(a Action) Definition {
	i := slices.IndexFunc(Definitions, func(d Definition) bool { return d.Action == a })
	if i < 0 {
		return Definition{}
	}
	return Definitions[i]
}
