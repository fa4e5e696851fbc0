package scenario

import (
	"crypto/sha256"
	"fmt"

	"github.com/dyncontroller/dyncontroller/pkg/engine"
	"github.com/dyncontroller/dyncontroller/pkg/engine/naming"
)

// namer makes the names of new objects: as long as those of a cluster, and the same
// every time. It counts for each asker alone, so that a name does not depend on the order
// in which others ask.
type namer map[request]int

// request is what names are asked for. It has no uid, since that of an object may depend
// on the order.
type request struct{ group, resource, namespace, name, prefix string }

// letters are those of generated names.
const letters = "bcdfghjklmnpqrstvwxz2456789"

// next implements [engine.Options.Name].
func (n namer) next(asker engine.Key, prefix string) string {
	asked := request{asker.GVR.Group, asker.GVR.Resource, asker.Namespace, asker.Name, prefix}
	n[asked]++
	sum := sha256.Sum256(fmt.Appendf(nil, "%q %d", asked, n[asked]))
	suffix := make([]byte, naming.SuffixLength)
	for i := range suffix {
		suffix[i] = letters[int(sum[i])%len(letters)]
	}
	return naming.Join(prefix, string(suffix))
}
