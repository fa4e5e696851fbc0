package worlds

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"
)

// revocation is that replicas, and who they act as, may do nothing with a resource where users work, until a moment: not even ask for it. As
// with RBAC, a watch that is open goes on. What they may do, the API server says for one permission after the other meanwhile, as with an
// authorizer that cannot list.
type revocation struct {
	resource string
	until    time.Time
}

// revoke takes the right to a resource away for a while, both by lot.
func (w *World) revoke(number int) {
	resources := w.workload.resources
	w.revoked = revocation{resources[number%len(resources)].Resource, time.Now().Add([]time.Duration{20 * time.Second, 2 * time.Minute, 5 * time.Minute}[number/4%3])}
}

// answer answers a request in place of the API server, if it is about what is revoked: otherwise it returns nil.
func (v revocation) answer(r *http.Request) *http.Response {
	if !time.Now().Before(v.until) {
		return nil
	}
	const kind = `{"kind":%q,"apiVersion":"authorization.k8s.io/v1","status":%s}`
	path := r.URL.Path
	switch {
	case strings.HasSuffix(path, "/selfsubjectrulesreviews"):
		return reply(r, http.StatusCreated, fmt.Sprintf(kind, "SelfSubjectRulesReview", `{"resourceRules":[],"nonResourceRules":[],"incomplete":true}`))
	case strings.HasSuffix(path, "/selfsubjectaccessreviews"):
		var review struct {
			Spec struct {
				ResourceAttributes struct{ Resource, Namespace string }
			}
		}
		body, _ := io.ReadAll(r.Body) // It is in memory.
		r.Body = io.NopCloser(bytes.NewReader(body))
		_ = json.Unmarshal(body, &review) // It is that of the program.
		asked := review.Spec.ResourceAttributes
		allowed := asked.Resource != v.resource || asked.Namespace == "system"
		return reply(r, http.StatusCreated, fmt.Sprintf(kind, "SelfSubjectAccessReview", fmt.Sprintf(`{"allowed":%t}`, allowed)))
	case resourceOf(path) == v.resource && !strings.Contains(path, "/namespaces/system/"):
		return refusal(r, http.StatusForbidden)
	default:
		return nil
	}
}
