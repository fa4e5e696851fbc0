package syntax

import (
	"strconv"

	"github.com/expr-lang/expr/parser/utils"
)

// KeyText is how the access of a key is written.
func KeyText(key string) string {
	if utils.IsValidIdentifier(key) {
		return "." + key
	}
	return "[" + strconv.Quote(key) + "]"
}

// Optional writes an access with ?. in front.
func Optional(access string) string {
	if access[0] == '[' {
		return "?." + access
	}
	return "?" + access
}
