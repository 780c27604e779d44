package keymap

// Actions of all lists: queue, plan, approval, transcript, menus and pagers. In a list with a text field
// keys that write go into the field.
const (
	Up           Action = "list.up"
	Down         Action = "list.down"
	ListPageUp   Action = "list.page-up"
	ListPageDown Action = "list.page-down"
	First        Action = "list.first"
	Last         Action = "list.last"
	Choose       Action = "list.choose"
	Complete     Action = "list.complete"
	Back         Action = "list.back"
)

var lists = []row{
	{Up, keys{"up", "k", "ctrl+p"}, "up", nil},
	{Down, keys{"down", "j", "ctrl+n"}, "down", nil},
	{ListPageUp, keys{"pgup"}, "page up", nil},
	{ListPageDown, keys{"pgdown"}, "page down", nil},
	{First, keys{"home", "g"}, "first", nil},
	{Last, keys{"end", "G"}, "last", nil},
	{Choose, keys{"enter", "space"}, "choose", nil},
	{Complete, keys{"tab"}, "complete the text by the selected row", nil},
	{Back, keys{"esc", "q"}, "back", nil},
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

// Actions of a form.
const (
	FormNext           Action = "form.next"
	FormPrevious       Action = "form.previous"
	FormNextChoice     Action = "form.next-choice"
	FormPreviousChoice Action = "form.previous-choice"
	FormSubmit         Action = "form.submit"
	FormCancel         Action = "form.cancel"
)

var form = []row{
	{FormNext, keys{"tab", "down"}, "next field", nil},
	{FormPrevious, keys{"shift+tab", "up"}, "previous field", nil},
	{FormNextChoice, keys{"right"}, "next choice of a field", nil},
	{FormPreviousChoice, keys{"left"}, "previous choice of a field", nil},
	{FormSubmit, keys{"enter"}, "submit", nil},
	{FormCancel, keys{"esc"}, "cancel", nil},
}

// Actions of a question. No letter answers it.
const (
	QuestionPrevious Action = "question.previous"
	QuestionNext     Action = "question.next"
	QuestionConfirm  Action = "question.confirm"
	QuestionCancel   Action = "question.cancel"
)

var question = []row{
	{QuestionPrevious, keys{"left", "up", "shift+tab"}, "choose backwards", nil},
	{QuestionNext, keys{"right", "down", "tab"}, "choose; cancel is chosen first", nil},
	{QuestionConfirm, keys{"enter"}, "confirm the choice", nil},
	{QuestionCancel, keys{"esc"}, "cancel", nil},
}
