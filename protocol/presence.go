package protocol

// A Look tells the part of a session that a client shows: the newest output, or a turn.
type Look struct {
	Live   bool   `json:"live,omitempty"`   // the end, as it grows
	Turn   string `json:"turn,omitempty"`   // otherwise
	Number int    `json:"number,omitempty"` // of the turn, counted from 1; 0: not known
}

// LookData tells the other clients of a session what this one shows. Look is nil if it shows
// something else.
type LookData struct {
	Look *Look `json:"look,omitempty"`
}

// PointData points at an item of a session for its other clients. Kind and Item are those of a
// search hit.
type PointData struct {
	Turn string  `json:"turn"`
	Kind HitKind `json:"kind"`
	Item string  `json:"item,omitempty"`
}

// PointedData is the data of client.pointed. It is in no log.
type PointedData struct {
	Client string `json:"client"` // the connection's id
	By     Actor  `json:"by"`

	PointData
}
