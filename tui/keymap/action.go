package keymap

// Action is a user action. Its value is its name in the user's configuration.
type Action string

// Actions with the same meaning in every focus.
const (
	Help            Action = "help"
	OpenPalette     Action = "palette"
	ShowSessions    Action = "sessions"
	ShowSettings    Action = "settings"
	ShowRules       Action = "rules"
	ShowProtocolLog Action = "wire"
	ShowContext     Action = "context"
	ShowChanges     Action = "changes"
	NextPending     Action = "next-need"
	FocusNext       Action = "next-part"
	FocusPrevious   Action = "previous-part"
	Interrupt       Action = "interrupt"
	PageUp          Action = "page-up"
	PageDown        Action = "page-down"
	Top             Action = "top"
	Bottom          Action = "end"
	PreviousTurn    Action = "previous-turn"
	NextTurn        Action = "next-turn"
	ToggleLast      Action = "fold-last"
	Find            Action = "find"
	TakeBack        Action = "take-back"
	Reconnect       Action = "retry"
	OpenEditor      Action = "editor"
	SearchPrompts   Action = "search-messages"
	EarlierMessage  Action = "earlier-message"
	LaterMessage    Action = "later-message"
	Redraw          Action = "redraw"
	Suspend         Action = "suspend"
	ReleaseQueue    Action = "release"
	ClearQueue      Action = "clear"
)

// Actions without default keys: the palette offers them.
const (
	HoldQueue Action = "hold"
	SetMode   Action = "mode"
	SetModel  Action = "model"
	CopyLast  Action = "copy-last"
	Quit      Action = "quit"
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

	NewSearch Action = "found.find"

	Compact Action = "context.compact"

	LogFilter    Action = "wire.find"
	LogDirection Action = "wire.direction"
	LogType      Action = "wire.type"
	LogPause     Action = "wire.pause"
	LogCopy      Action = "wire.copy"
	LogSave      Action = "wire.save"
	LogPageUp    Action = "wire.page-up"
	LogPageDown  Action = "wire.page-down"
	LogClose     Action = "wire.leave"

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
	ReviewClose        Action = "review.close"

	PagerPageUp   Action = "pager.page-up"
	PagerPageDown Action = "pager.page-down"
	PagerClose    Action = "pager.leave"

	PagerFind       Action = "pager.find"
	PagerNext       Action = "pager.next"
	PagerPrevious   Action = "pager.previous"
	PagerDiffLayout Action = "pager.sides"
	DiffLayout      Action = "transcript.sides"
)
