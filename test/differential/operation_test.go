package differential

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/url"
	"strings"
)

// operation is a request as it is told to both API servers. What only one of them can
// know stands in it as a token.
type operation struct {
	what   string // for counting
	method string
	// below is the subresource, and collection says that no object is named.
	below      string
	collection bool
	query      url.Values
	kind       string // of the content
	body       any
	// onRead says that the body is merged into what is read first, as clients do before
	// they update.
	onRead bool
}

// byGenerateName leaves the name to the API server.
const byGenerateName = "create by generateName"

// Tokens are replaced by what a side knows.
const (
	tokenName      = "@name@"
	tokenNamespace = "@namespace@"
	tokenUID       = "@uid@"
	tokenVersion   = "@version@" // the last that was seen
	tokenStale     = "@stale@"   // the first that was seen
)

const (
	typeJSON      = "application/json"
	typeMerge     = "application/merge-patch+json"
	typePatch     = "application/json-patch+json"
	typeStrategic = "application/strategic-merge-patch+json"
	typeApply     = "application/apply-patch+yaml"
)

// String shows the operation as somebody could send it.
func (o operation) String() string {
	at := "/" + tokenName
	if o.collection {
		at = ""
	}
	if o.below != "" {
		at += "/" + o.below
	}
	out := fmt.Sprintf("%s .%s", o.method, at)
	if len(o.query) > 0 {
		out += "?" + o.query.Encode()
	}
	if o.kind != "" {
		out += " " + strings.TrimPrefix(o.kind, "application/")
	}
	if o.onRead {
		out += " what is read, with"
	}
	if o.body != nil {
		data, err := json.Marshal(o.body)
		if err != nil {
			return out + " " + err.Error()
		}
		out += " " + string(data)
	}
	return out
}

// sequence is an object and what is done to it.
type sequence struct {
	of         *kind
	operations []operation
}

func (s sequence) String() string {
	var out strings.Builder
	fmt.Fprintf(&out, "%s\n", s.of.path("@namespace@"))
	for i, o := range s.operations {
		fmt.Fprintf(&out, "%3d. %s\n", i+1, o)
	}
	return out.String()
}

// merged is RFC 7386, but that what is deleted is what is the text "@absent@": null is a
// value that clients send.
func merged(into, patch any) any {
	changes, is := patch.(map[string]any)
	if !is {
		return patch
	}
	out := map[string]any{}
	if before, is := into.(map[string]any); is {
		maps.Copy(out, before)
	}
	for key, value := range changes {
		if value == tokenAbsent {
			delete(out, key)
		} else {
			out[key] = merged(out[key], value)
		}
	}
	return out
}

// tokenAbsent takes a field out of what is read.
const tokenAbsent = "@absent@"
