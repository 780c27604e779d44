package keymap

// Actions of a review of changes.
const (
	ReviewPageUp        Action = "review.page-up"
	ReviewPageDown      Action = "review.page-down"
	ReviewPreviousFile  Action = "review.previous-file"
	ReviewNextFile      Action = "review.next-file"
	ReviewPreviousHunk  Action = "review.previous-hunk"
	ReviewNextHunk      Action = "review.next-hunk"
	ReviewFind          Action = "review.find"
	ReviewNextMatch     Action = "review.next-match"
	ReviewPreviousMatch Action = "review.previous-match"
	ReviewUnread        Action = "review.unread"
	ReviewFiles         Action = "review.files"
	ReviewComment       Action = "review.comment"
	ReviewRemove        Action = "review.remove-comment"
	ReviewCopy          Action = "review.copy-comments"
	ReviewFold          Action = "review.fold"
	ReviewLayout        Action = "review.layout"
	ReviewClose         Action = "review.close"
)

var review = []row{
	{ReviewPageUp, keys{"pgup", "b"}, "page up", nil},
	{ReviewPageDown, keys{"space", "pgdown"}, "page down", nil},
	{ReviewPreviousFile, keys{"[", "left"}, "previous file", nil},
	{ReviewNextFile, keys{"]", "right"}, "next file", nil},
	{ReviewPreviousHunk, keys{"K"}, "previous hunk", nil},
	{ReviewNextHunk, keys{"J"}, "next hunk", nil},
	{ReviewFind, keys{"/"}, "find in the request and its changes", nil},
	{ReviewNextMatch, keys{"n"}, "after a search: next match", nil},
	{ReviewPreviousMatch, keys{"N"}, "after a search: previous match", nil},
	{ReviewUnread, keys{"u"}, "go to what was not on the screen", nil},
	{ReviewFiles, keys{"f"}, "list of files and comments", nil},
	{ReviewComment, keys{"c"}, "comment on the line; sent with the decision, or as a message", nil},
	{ReviewRemove, keys{"x", "delete", "backspace"}, "remove the comment", nil},
	{ReviewCopy, keys{"C"}, "copy all comments", nil},
	{ReviewFold, keys{"z"}, "hide the lines of the file, or show them", nil},
	{ReviewLayout, keys{"s"}, "side by side or in one column", nil},
	{ReviewClose, keys{"v"}, "back; the keys of an approval decide", nil},
}
