package keymap

// Actions of a review of changes.
const (
	ReviewUnread  Action = "review.unread"
	ReviewComment Action = "review.comment"
)

var review = []row{
	{ReviewUnread, keys{"u"}, "go to unread lines", nil},
	{ReviewComment, keys{"m"}, "comment on the line", nil},
}
