package keymap

// Actions of a review of changes.
const (
	ReviewUnread  Action = "review.unread"
	ReviewComment Action = "review.comment"
)

var review = []row{
	{ReviewUnread, keys{"u"}, "next unread", nil},
	{ReviewComment, keys{"m"}, "comment", nil},
}
