package keymap

// Actions of all lists: queue, plan, approval, transcript, menus and pagers.
const (
	Up     Action = "list.up"
	Down   Action = "list.down"
	First  Action = "list.first"
	Last   Action = "list.last"
	Choose Action = "list.choose"
	Back   Action = "list.back"
)

var lists = []row{
	{Up, keys{"up", "k"}, "up", nil},
	{Down, keys{"down", "j"}, "down", nil},
	{First, keys{"home", "g"}, "first", nil},
	{Last, keys{"end", "G"}, "last", nil},
	{Choose, keys{"enter", "space"}, "choose", nil},
	{Back, keys{"esc", "q"}, "back", nil},
}

// Actions of the turns.
const (
	OutlineJump     Action = "outline.jump"
	OutlineUp       Action = "outline.up"
	OutlineDown     Action = "outline.down"
	OutlinePageUp   Action = "outline.page-up"
	OutlinePageDown Action = "outline.page-down"
	OutlineClose    Action = "outline.close"
)

var outline = []row{
	{OutlineJump, keys{"enter"}, "go to the turn", nil},
	{OutlineUp, keys{"up"}, "up; text filters", nil},
	{OutlineDown, keys{"down"}, "down", nil},
	{OutlinePageUp, keys{"pgup"}, "page up", nil},
	{OutlinePageDown, keys{"pgdown"}, "page down", nil},
	{OutlineClose, keys{"esc", "f10", "alt+o"}, "back", nil},
}

// Actions of a long text.
const (
	PagerPageUp     Action = "pager.page-up"
	PagerPageDown   Action = "pager.page-down"
	PagerFind       Action = "pager.find"
	PagerNext       Action = "pager.next"
	PagerPrevious   Action = "pager.previous"
	PagerDiffLayout Action = "pager.sides"
	PagerClose      Action = "pager.leave"
)

var pager = []row{
	{PagerPageUp, keys{"pgup", "b"}, "page up", nil},
	{PagerPageDown, keys{"pgdown", "space"}, "page down", nil},
	{PagerFind, keys{"/"}, "search", nil},
	{PagerNext, keys{"n"}, "next match", nil},
	{PagerPrevious, keys{"N"}, "previous match", nil},
	{PagerDiffLayout, keys{"d"}, "diff side by side or in one column", nil},
	{PagerClose, keys{"v", "enter", "?", "f1", "alt+h"}, "back", nil},
}
