package keymap

// Actions of a review of changes.
const (
	ReviewUnread  Action = "review.unread"
	ReviewComment Action = "review.comment"
)

var review = []row{
	{ReviewUnread, keys{"u"}, "go to what was not on the screen", nil},
	{ReviewComment, keys{"m"}, "comment on the line; sent with the decision, or as a message", nil},
}
