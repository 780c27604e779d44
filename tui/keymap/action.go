package keymap

import (
	"strings"
)

// Action is a user action. Its value is its name in the user's configuration.
type Action string

// Actions with the same meaning in every focus.
const (
	Help           Action = "help"
	OpenPalette    Action = "palette"
	ShowSessions   Action = "sessions"
	ShowSettings   Action = "settings"
	ShowRules      Action = "rules"
	ShowContext    Action = "context"
	ShowChanges    Action = "changes"
	NextPending    Action = "next-need"
	JumpSession    Action = "jump"
	NextTheme      Action = "next-theme"
	ChooseTheme    Action = "theme"
	ChooseImages   Action = "images"
	ExportSession  Action = "export"
	ToggleSide     Action = "side"
	FocusNext      Action = "next-part"
	FocusPrevious  Action = "previous-part"
	Interrupt      Action = "interrupt"
	PageUp         Action = "page-up"
	PageDown       Action = "page-down"
	Top            Action = "top"
	Bottom         Action = "end"
	PreviousTurn   Action = "previous-turn"
	NextTurn       Action = "next-turn"
	ToggleLast     Action = "fold-last"
	Find           Action = "find"
	TakeBack       Action = "take-back"
	Reconnect      Action = "retry"
	OpenEditor     Action = "editor"
	SearchPrompts  Action = "search-messages"
	EarlierMessage Action = "earlier-message"
	LaterMessage   Action = "later-message"
	ShowOutline    Action = "outline"
	Redraw         Action = "redraw"
	Suspend        Action = "suspend"
	ReleaseQueue   Action = "release"
	ClearQueue     Action = "clear"
)

// Actions without default keys: the palette offers them.
const (
	HoldQueue Action = "hold"
	SetMode   Action = "mode"
	SetModel  Action = "model"
	CopyLast  Action = "copy-last"

	UndoTurn    Action = "undo"
	RepeatTurn  Action = "repeat"
	ForkSession Action = "fork"

	Quit Action = "quit"
)

// Actions shared by lists: queue, plan, approval, transcript, menus and pagers.
const (
	Up     Action = "list.up"
	Down   Action = "list.down"
	First  Action = "list.first"
	Last   Action = "list.last"
	Choose Action = "list.choose"
	Back   Action = "list.back"
)

// Actions of one scope.
const (
	Send               Action = "composer.send"
	Cancel             Action = "composer.give-up"
	PasteImage         Action = "composer.paste-image"
	RemoveAttachment   Action = "composer.remove-file"
	ComposerScrollUp   Action = "composer.scroll-up"
	ComposerScrollDown Action = "composer.scroll-down"
	ComposerEarlier    Action = "composer.earlier"
	ComposerLater      Action = "composer.later"
	RestoreDraft       Action = "composer.restore"
	DeleteOrLeave      Action = "composer.delete-or-leave"

	OutlineUp       Action = "outline.up"
	OutlineDown     Action = "outline.down"
	OutlinePageUp   Action = "outline.page-up"
	OutlinePageDown Action = "outline.page-down"
	OutlineJump     Action = "outline.jump"
	OutlineClose    Action = "outline.close"

	OpenPlace         Action = "transcript.open-source"
	TranscriptOutline Action = "transcript.outline"

	PlayPause     Action = "player.pause"
	PlayFaster    Action = "player.faster"
	PlaySlower    Action = "player.slower"
	PlayPrevious  Action = "player.previous-turn"
	PlayNext      Action = "player.next-turn"
	PlayFromStart Action = "player.start"
	PlayToEnd     Action = "player.end"
	PlayFind      Action = "player.find"
	PlayOutline   Action = "player.outline"
	PlayHelp      Action = "player.help"

	Allow           Action = "approval.allow"
	AllowAlways     Action = "approval.always"
	DenyRequest     Action = "approval.deny"
	WriteReason     Action = "approval.reason"
	ViewRequest     Action = "approval.view"
	EditRequest     Action = "approval.edit"
	PreviousRequest Action = "approval.previous"
	NextRequest     Action = "approval.next"

	QueueEdit     Action = "queue.edit"
	QueueRemove   Action = "queue.remove"
	QueueMoveUp   Action = "queue.move-up"
	QueueMoveDown Action = "queue.move-down"
	QueueSendNow  Action = "queue.send-now"
	QueuePageUp   Action = "queue.page-up"
	QueuePageDown Action = "queue.page-down"
	QueueHold     Action = "queue.hold"
	QueueRelease  Action = "queue.release"
	QueueClear    Action = "queue.clear"

	TaskCancel  Action = "plan.cancel"
	TaskRestart Action = "plan.restart"

	Toggle         Action = "transcript.fold"
	ViewItem       Action = "transcript.view"
	SaveFile       Action = "transcript.save-file"
	OpenFile       Action = "transcript.open-file"
	TranscriptFind Action = "transcript.find"
	OlderMatch     Action = "transcript.older-place"
	NewerMatch     Action = "transcript.newer-place"
	CopyItem       Action = "transcript.copy"
	CopyCode       Action = "transcript.copy-code"
	EnterCopyMode  Action = "transcript.copy-mode"
	TranscriptHelp Action = "transcript.help"

	TranscriptPreviousTurn Action = "transcript.previous-turn"
	TranscriptNextTurn     Action = "transcript.next-turn"
	NextTool               Action = "transcript.next-tool"
	PreviousTool           Action = "transcript.previous-tool"
	NextApproval           Action = "transcript.next-approval"
	PreviousApproval       Action = "transcript.previous-approval"
	NextError              Action = "transcript.next-error"
	PreviousError          Action = "transcript.previous-error"

	StartSelection Action = "copy.begin"
	SelectBlock    Action = "copy.block"
	CopySelection  Action = "copy.take"

	RevokeRule Action = "rules.revoke"

	FilterSessions Action = "sessions.filter"
	SearchSessions Action = "sessions.find"
	SortSessions   Action = "sessions.sort"
	TogglePreview  Action = "sessions.preview"
	NewSession     Action = "sessions.create"
	RenameSession  Action = "sessions.rename"
	CloseOrDelete  Action = "sessions.end"
	DecideRequest  Action = "sessions.decide"
	OpenSession    Action = "sessions.open"
	SessionsHelp   Action = "sessions.help"
	ToggleChildren Action = "sessions.children"
	MarkSession    Action = "sessions.mark"
	MarkShown      Action = "sessions.mark-all"
	LabelSession   Action = "sessions.label"
	DenySessions   Action = "sessions.deny"
	StopSessions   Action = "sessions.interrupt"
	SendSessions   Action = "sessions.send"

	NewSearch Action = "found.find"

	Compact Action = "context.compact"

	TurnChanges        Action = "transcript.changes"
	ReviewPageUp       Action = "review.page-up"
	ReviewPageDown     Action = "review.page-down"
	ReviewPreviousFile Action = "review.previous-file"
	ReviewNextFile     Action = "review.next-file"
	ReviewPreviousHunk Action = "review.previous-hunk"
	ReviewNextHunk     Action = "review.next-hunk"
	ReviewUnread       Action = "review.unread"
	ReviewFiles        Action = "review.files"
	ReviewComment      Action = "review.comment"
	ReviewRemove       Action = "review.remove-comment"
	ReviewCopy         Action = "review.copy-comments"
	ReviewLayout       Action = "review.layout"
	ReviewFold         Action = "review.fold"
	ReviewClose        Action = "review.close"

	ReviewFind          Action = "review.find"
	ReviewNextMatch     Action = "review.next-match"
	ReviewPreviousMatch Action = "review.previous-match"

	PagerPageUp   Action = "pager.page-up"
	PagerPageDown Action = "pager.page-down"
	PagerClose    Action = "pager.leave"

	PagerFind       Action = "pager.find"
	PagerNext       Action = "pager.next"
	PagerPrevious   Action = "pager.previous"
	PagerDiffLayout Action = "pager.sides"
	DiffLayout      Action = "transcript.sides"

	SkipStep Action = "tour.skip"
)

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
)

// OnPanes reports whether an action is one of sessions side by side.
func (a Action) OnPanes() bool { return strings.HasPrefix(string(a), "pane.") }

// Splits reports whether an action shows a further session.
func (a Action) Splits() bool { return a == SplitRight || a == SplitBelow }

// Scope is a part of the screen with its own keys. Its value is its heading on the help screen.
type Scope string

// The scopes.
const (
	Global        Scope = "Everywhere"
	Lists         Scope = "Lists"
	Composer      Scope = "Composer"
	Outline       Scope = "Turns (F10)"
	Player        Scope = "Player (attach --replay)"
	Approval      Scope = "Approval (tab)"
	Queue         Scope = "Queue (tab)"
	Plan          Scope = "Plan (tab)"
	Transcript    Scope = "Transcript (tab)"
	CopyMode      Scope = "Copy mode (space in the transcript)"
	Sessions      Scope = "Sessions"
	SearchResults Scope = "Search results"
	Question      Scope = "Questions"
	Rules         Scope = "Rules"
	Context       Scope = "Context"
	Review        Scope = "Review of changes"
	Pager         Scope = "Pager"
	Tour          Scope = "Tour"
	Panes         Scope = "Sessions side by side"
)
