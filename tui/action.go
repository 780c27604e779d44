package tui

// action is what a person wants of the screen. Its value is what it is called
// where keys are configured.
type action string

// Actions that are the same whatever has the focus.
const (
	doHelp         action = "help"
	doSessions     action = "sessions"
	doSettings     action = "settings"
	doRules        action = "rules"
	doWire         action = "wire"
	doContext      action = "context"
	doNextNeed     action = "next-need"
	doNextPart     action = "next-part"
	doPreviousPart action = "previous-part"
	doInterrupt    action = "interrupt"
	doPageUp       action = "page-up"
	doPageDown     action = "page-down"
	doTop          action = "top"
	doEnd          action = "end"
	doTurnBefore   action = "previous-turn"
	doTurnAfter    action = "next-turn"
	doFoldLast     action = "fold-last"
	doFind         action = "find"
	doTakeBack     action = "take-back"
	doRetry        action = "retry"
	doEditor       action = "editor"
	doEarlier      action = "earlier-message"
	doLater        action = "later-message"
	doRedraw       action = "redraw"
	doSuspend      action = "suspend"
)

// Actions of the lists: queue, plan, approval, transcript, menus and pagers.
const (
	doUp     action = "list.up"
	doDown   action = "list.down"
	doFirst  action = "list.first"
	doLast   action = "list.last"
	doChoose action = "list.choose"
	doBack   action = "list.back"
)

// Actions of one part of the screen.
const (
	doSend       action = "composer.send"
	doGiveUp     action = "composer.give-up"
	doScrollUp   action = "composer.scroll-up"
	doScrollDown action = "composer.scroll-down"
	doRecall     action = "composer.earlier"
	doForth      action = "composer.later"
	doAsk        action = "composer.help"

	doReason          action = "approval.reason"
	doExamine         action = "approval.view"
	doAmend           action = "approval.edit"
	doPreviousRequest action = "approval.previous"
	doNextRequest     action = "approval.next"

	doEdit      action = "queue.edit"
	doRemove    action = "queue.remove"
	doMoveUp    action = "queue.move-up"
	doMoveDown  action = "queue.move-down"
	doSendNow   action = "queue.send-now"
	doQueueUp   action = "queue.page-up"
	doQueueDown action = "queue.page-down"
	doHold      action = "queue.hold"
	doRelease   action = "queue.release"

	doCancelTask  action = "plan.cancel"
	doRestartTask action = "plan.restart"

	doFold     action = "transcript.fold"
	doView     action = "transcript.view"
	doFindHere action = "transcript.find"
	doOlder    action = "transcript.older-place"
	doNewer    action = "transcript.newer-place"
	doCopy     action = "transcript.copy"
	doCopyCode action = "transcript.copy-code"
	doCopying  action = "transcript.copy-mode"
	doKeysHere action = "transcript.help"

	doLastTurn     action = "transcript.previous-turn"
	doNextTurn     action = "transcript.next-turn"
	doNextTool     action = "transcript.next-tool"
	doLastTool     action = "transcript.previous-tool"
	doNextApproval action = "transcript.next-approval"
	doLastApproval action = "transcript.previous-approval"
	doNextError    action = "transcript.next-error"
	doLastError    action = "transcript.previous-error"

	doBeginChoice action = "copy.begin"
	doChooseBlock action = "copy.block"
	doTakeChoice  action = "copy.take"

	doRevoke action = "rules.revoke"

	doFilter        action = "sessions.filter"
	doFindAll       action = "sessions.find"
	doSort          action = "sessions.sort"
	doPreview       action = "sessions.preview"
	doCreate        action = "sessions.create"
	doRename        action = "sessions.rename"
	doEndSession    action = "sessions.end"
	doAllow         action = "sessions.allow"
	doDeny          action = "sessions.deny"
	doSessionKeys   action = "sessions.help"
	doCloseSession  action = "ending.close"
	doDeleteSession action = "ending.delete"

	doFindOthers action = "found.find"

	doCompact action = "context.compact"

	doWireWords action = "wire.find"
	doWireWay   action = "wire.direction"
	doWireType  action = "wire.type"
	doWirePause action = "wire.pause"
	doWireCopy  action = "wire.copy"
	doWireSave  action = "wire.save"
	doWireUp    action = "wire.page-up"
	doWireDown  action = "wire.page-down"
	doLeaveWire action = "wire.leave"

	doScreenUp   action = "pager.page-up"
	doScreenDown action = "pager.page-down"
	doLeavePager action = "pager.leave"

	doFindInPager     action = "pager.find"
	doNextInPager     action = "pager.next"
	doPreviousInPager action = "pager.previous"
	doSides           action = "pager.sides"
	doSidesHere       action = "transcript.sides"
)
