package scenario

import (
	"crypto/sha256"
	"fmt"

	"github.com/dyncontroller/dyncontroller/pkg/engine"
)

// namer makes the names of new objects: as long as those of a cluster, and the same
// every time.
type namer map[string]int

// letters are those of generated names.
const letters = "bcdfghjklmnpqrstvwxz2456789"

func (n namer) next(prefix string) string {
	n[prefix]++
	sum := sha256.Sum256(fmt.Appendf(nil, "%s %d", prefix, n[prefix]))
	suffix := make([]byte, engine.RandomLength)
	for i := range suffix {
		suffix[i] = letters[int(sum[i])%len(letters)]
	}
	return engine.Named(prefix, string(suffix))
}
