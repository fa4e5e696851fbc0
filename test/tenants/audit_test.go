package tenants

import (
	"bufio"
	"encoding/json"
	"io"
	"os"
	"slices"
	"sync"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	auditv1 "k8s.io/apiserver/pkg/apis/audit/v1"

	"github.com/dyncontroller/dyncontroller/test/virtual"
)

// request is an entry of the audit log.
type request struct {
	AuditID    string
	Stage      string // ResponseStarted, of a watch, or ResponseComplete
	Verb       string
	RequestURI string
	UserAgent  string
	User       struct{ Username string }
	// ImpersonatedUser is who it was made as, empty for the user itself.
	ImpersonatedUser struct{ Username string }
	ObjectRef        struct{ Resource, Namespace, Name, APIGroup, Subresource string }
	ResponseStatus   struct{ Code int }
	// ResponseObject is there where the policy wants it.
	ResponseObject struct {
		Metadata metav1.ObjectMeta
		Data     map[string]string
		Spec     struct{ HolderIdentity string }
		Details  struct{ UID types.UID } // of a Status
	}

	RequestReceivedTimestamp, StageTimestamp metav1.MicroTime
}

// as is whose rights the request used.
func (r request) as() string {
	if r.ImpersonatedUser.Username != "" {
		return r.ImpersonatedUser.Username
	}
	return r.User.Username
}

// writes reports whether the request was to change something.
func (r request) writes() bool {
	return !slices.Contains([]string{"get", "list", "watch"}, r.Verb)
}

// granted reports whether the API server did what it was asked to.
func (r request) granted() bool { return r.ResponseStatus.Code < 300 }

// audits are the audit logs of control planes, by *plane.
var audits sync.Map

// auditLog is read as it grows. It is safe for concurrent use.
type auditLog struct {
	path string

	mu       sync.Mutex
	offset   int64     // of the first line that is not read; guarded by mu
	requests []request // guarded by mu
}

// read returns all requests that are logged so far, which the caller does not change.
func (l *auditLog) read(t *testing.T) []request {
	t.Helper()
	l.mu.Lock()
	defer l.mu.Unlock()
	l.offset = readLog(t, l.path, l.offset, func(r request) { l.requests = append(l.requests, r) })
	return l.requests
}

// readLog reads an audit log from an offset to its last whole line, and returns the offset of what follows.
func readLog(t *testing.T, path string, offset int64, take func(request)) int64 {
	t.Helper()
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	if _, err := file.Seek(offset, io.SeekStart); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewReader(file)
	for {
		line, err := lines.ReadBytes('\n')
		if err != nil {
			return offset
		}
		offset += int64(len(line))
		var one request
		if err := json.Unmarshal(line, &one); err != nil {
			t.Fatalf("the audit log: %v: %s", err, line)
		}
		take(one)
	}
}

// requests are the audited requests that began since a moment.
func requests(t *testing.T, since time.Time) []request {
	t.Helper()
	return matching(t, since, func(*request) bool { return true })
}

// matching are those of them that match. The log is long, and tests look at it again and again.
func matching(t *testing.T, since time.Time, matches func(*request) bool) (out []request) {
	t.Helper()
	add := func(one *request) {
		if !one.RequestReceivedTimestamp.Time.Before(since) && matches(one) {
			out = append(out, *one)
		}
	}
	if c := virtual.Of(t); c != nil {
		for _, event := range c.Audit() {
			one := requestOf(&event)
			add(&one)
		}
		return out
	}
	log, _ := audits.Load(cluster(t))
	all := log.(*auditLog).read(t)
	// They are in the log about in the order in which they were answered.
	first, _ := slices.BinarySearchFunc(all, since.Add(-time.Minute), func(r request, at time.Time) int { return r.StageTimestamp.Compare(at) })
	for i := range all[first:] {
		add(&all[first+i])
	}
	return out
}

// requestOf is a request to a cluster in memory.
func requestOf(e *auditv1.Event) request {
	out := request{
		AuditID: string(e.AuditID), Stage: string(e.Stage), Verb: e.Verb, RequestURI: e.RequestURI, UserAgent: e.UserAgent,
		RequestReceivedTimestamp: e.RequestReceivedTimestamp, StageTimestamp: e.StageTimestamp,
	}
	out.User.Username, out.ResponseStatus.Code = e.User.Username, int(e.ResponseStatus.Code)
	if e.ImpersonatedUser != nil {
		out.ImpersonatedUser.Username = e.ImpersonatedUser.Username
	}
	of := &out.ObjectRef
	of.Resource, of.Namespace, of.Name, of.APIGroup, of.Subresource = e.ObjectRef.Resource, e.ObjectRef.Namespace, e.ObjectRef.Name, e.ObjectRef.APIGroup, e.ObjectRef.Subresource
	return out
}

// about are the requests as a user about a resource that began since a moment.
func about(t *testing.T, since time.Time, user, resource string) []request {
	t.Helper()
	return matching(t, since, func(r *request) bool { return r.as() == user && r.ObjectRef.Resource == resource })
}

// by are the requests as a user that began since a moment.
func by(t *testing.T, since time.Time, user string) []request {
	t.Helper()
	return matching(t, since, func(r *request) bool { return r.as() == user })
}

// moment is one at which nothing else happens, in virtual time, too.
func moment() time.Time {
	<-time.After(time.Millisecond)
	return time.Now()
}

// opened are all watches that there have ever been as a user, by the audit id.
func opened(t *testing.T, user string) map[string]bool {
	t.Helper()
	out := map[string]bool{}
	for _, r := range by(t, time.Time{}, user) {
		if r.Verb == "watch" {
			out[r.AuditID] = true
		}
	}
	return out
}

// watching counts the watches of a resource that go on as a user.
func watching(t *testing.T, user, resource string) int {
	t.Helper()
	open := map[string]bool{}
	for _, r := range about(t, time.Time{}, user, resource) {
		if r.Verb == "watch" {
			open[r.AuditID] = true
			if r.Stage == "ResponseComplete" {
				delete(open, r.AuditID)
			}
		}
	}
	return len(open)
}
