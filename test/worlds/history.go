package worlds

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
)

// request is what became of one.
type request struct {
	number  int       // in the order in which they were carried out, from 1
	at      time.Time // when it was carried out
	sent    time.Time // by a replica
	as      string    // user, or the replica
	account string    // as whose rights are used, "" for those of the process
	method  string
	path    string // without the query
	query   string
	body    string // of a write by a replica
	fault   Fault  // what happened to it, "" for nothing
	arrived bool   // at the API server
	code    int    // of the answer, whether the client got it or not
	written written
}

// written is the object in the answer to a write.
type written struct {
	Metadata struct {
		Name            string                  `json:"name"`
		UID             types.UID               `json:"uid"`
		Generation      int64                   `json:"generation"`
		Labels          map[string]string       `json:"labels"`
		Annotations     map[string]string       `json:"annotations"`
		DeletedAt       *metav1.Time            `json:"deletionTimestamp"`
		Finalizers      []string                `json:"finalizers"`
		OwnerReferences []metav1.OwnerReference `json:"ownerReferences"`
	} `json:"metadata"`
	Spec struct {
		Replicas             int    `json:"replicas"`
		Completions          int    `json:"completions"`
		Parallelism          int    `json:"parallelism"`
		HolderIdentity       string `json:"holderIdentity"`
		LeaseDurationSeconds int    `json:"leaseDurationSeconds"`
		RenewTime            string `json:"renewTime"`
	} `json:"spec"`
	Data   map[string]string `json:"data"`
	Status struct {
		ObservedGeneration int64      `json:"observedGeneration"`
		Inventory          []leftover `json:"inventory"`
		Paused             []pause    `json:"paused"`
		Phase              string     `json:"phase"` // of a Pod
		jobCounts
	} `json:"status"`
}

// String is the request as a transcript has it.
func (r *request) String() string {
	text := fmt.Sprintf("%4d %s %-8s %-6s %s", r.number, r.at.Format("15:04:05.000"), r.as, r.method, r.path)
	if r.query != "" {
		text += "?" + r.query
	}
	if r.arrived {
		text += fmt.Sprintf(" %d", r.code)
	}
	if r.fault != "" {
		text += " (" + string(r.fault) + ")"
	}
	return text
}

// changes reports whether the request is to change something of the cluster. A replica may ask what it is allowed, and keep its lease.
func (r *request) changes() bool {
	return r.method != http.MethodGet && r.method != reload && r.method != moved && !strings.HasPrefix(r.path, "/apis/authorization.k8s.io/") && !strings.HasPrefix(r.path, "/apis/coordination.k8s.io/")
}

// reload is the method of what is no request: users replace the rules. The path is the number of the rules.
const reload = "RELOAD"

// moved is the same of a set object that is to act as another account, which is the path.
const moved = "MOVE"

// stored reports whether it has changed something.
func (r *request) stored() bool { return r.changes() && r.arrived && r.code < 300 }

// writesLease reports whether it has changed the lease of the replicas.
func (r *request) writesLease() bool {
	return r.method != http.MethodGet && r.arrived && r.code < 300 && strings.Contains(r.path, "/namespaces/system/leases")
}

// to reports whether it is to a resource where the users work, and returns the name of the object, empty for a new one.
func (r *request) to(of schema.GroupVersionResource) (name string, is bool) {
	_, after, is := strings.Cut(r.path, "/namespaces/shop/"+of.Resource)
	return strings.TrimPrefix(after, "/"), is
}

// history is all requests, in the order in which they were carried out. It is for the first goroutine of a bubble.
type history struct{ all []*request }

// String is the transcript.
func (h *history) String() string {
	var out strings.Builder
	for _, r := range h.all {
		fmt.Fprintln(&out, r)
	}
	return out.String()
}

// begin notes a request that is on its way to the API server.
func (h *history) begin(as string, r *http.Request) *request {
	one := h.note(as, r.Method, r.URL.Path)
	one.query = r.URL.RawQuery
	one.account = strings.TrimPrefix(r.Header.Get("Impersonate-User"), "system:serviceaccount:shop:")
	if r.Body != nil && as != user && one.changes() {
		body, _ := io.ReadAll(r.Body) // It is in memory.
		r.Body, one.body = io.NopCloser(bytes.NewReader(body)), string(body)
	}
	return one
}

// note adds what happens now.
func (h *history) note(as, method, path string) *request {
	one := &request{number: len(h.all) + 1, at: time.Now(), as: as, method: method, path: path}
	h.all = append(h.all, one)
	return one
}

// arrived notes what the API server has answered.
func (h *history) arrived(one *request, answer *http.Response) error {
	if one.arrived, one.code = true, answer.StatusCode; one.method == http.MethodGet {
		return nil
	}
	body, err := io.ReadAll(answer.Body)
	if err != nil {
		return fmt.Errorf("reading an answer: %w", err)
	}
	answer.Body = io.NopCloser(bytes.NewReader(body))
	_ = json.Unmarshal(body, &one.written) // Of other answers nothing is noted.
	return nil
}
