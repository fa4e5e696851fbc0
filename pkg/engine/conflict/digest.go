package conflict

import (
	"encoding/json"
	"hash/maphash"
)

// token is a value as it is hashed: a text is not what is written the same way.
type token struct {
	isText bool
	text   string
}

// digest stands for a value of JSON: the same for the same, and but for a chance that need
// not be reckoned with, for no other. It is of no use to who learns of it.
func (t *Tracker) digest(value any) uint64 {
	if text, isText := value.(string); isText {
		return maphash.Comparable(t.seed, token{true, text})
	}
	data, err := json.Marshal(value) // With keys in order.
	if err != nil {
		data = []byte(err.Error())
	}
	return maphash.Comparable(t.seed, token{false, string(data)})
}
