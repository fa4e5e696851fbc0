package virtual

import (
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"

	authenticationv1 "k8s.io/api/authentication/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	auditv1 "k8s.io/apiserver/pkg/apis/audit/v1"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/apiserver/pkg/endpoints/request"

	"github.com/dyncontroller/dyncontroller/test/controlplane"
	"github.com/dyncontroller/dyncontroller/test/proxy"
)

// Audit is what the audit log of the API server has, at the level Metadata: requests that have been answered, and watches as they begin.
func (s *Simulated) Audit() []auditv1.Event {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.audit)
}

// auditEntry is a request with its user and the impersonated one.
type auditEntry struct {
	*http.Request
	info         *request.RequestInfo
	user         user.Info // nil where it is not known
	impersonated user.Info // nil where there is none
	received     metav1.MicroTime
}

// record counts a request and has it in the audit log; a watch once more as it ends.
func (s *Simulated) record(of auditEntry, response *http.Response) {
	event := auditv1.Event{
		Level: auditv1.LevelMetadata, Stage: auditv1.StageResponseComplete, RequestURI: of.URL.RequestURI(), Verb: of.info.Verb, UserAgent: of.UserAgent(),
		ObjectRef: &auditv1.ObjectReference{
			Resource: of.info.Resource, Namespace: of.info.Namespace, Name: of.info.Name, APIGroup: of.info.APIGroup, Subresource: of.info.Subresource,
		},
		ResponseStatus: &metav1.Status{Code: int32(response.StatusCode)}, RequestReceivedTimestamp: of.received, StageTimestamp: metav1.NowMicro(), //nolint:gosec // It has three digits.
	}
	if of.user != nil {
		event.User.Username = of.user.GetName()
	}
	if of.impersonated != nil {
		event.ImpersonatedUser = &authenticationv1.UserInfo{Username: of.impersonated.GetName()}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.requests == nil { // See forget.
		return
	}
	s.requests[counted(of.Request, response.StatusCode)]++
	event.AuditID = types.UID(strconv.Itoa(len(s.audit)))
	if of.info.Verb == "watch" && response.StatusCode == http.StatusOK {
		event.Stage = auditv1.StageResponseStarted
		response.Body = watchBody{ReadCloser: response.Body, end: sync.OnceFunc(func() {
			event := event
			event.Stage, event.StageTimestamp = auditv1.StageResponseComplete, metav1.NowMicro()
			s.mu.Lock()
			defer s.mu.Unlock()
			s.audit = append(s.audit, event)
		})}
	}
	s.audit = append(s.audit, event)
}

// counted is a request as the metrics of an API server count it.
func counted(r *http.Request, code int) controlplane.Request {
	asked := proxy.Classify(r)
	out := controlplane.Request{
		Verb: r.Method, Group: asked.Group, Version: asked.Version, Resource: asked.Resource, Subresource: asked.Subresource, Code: strconv.Itoa(code),
	}
	if applies := r.Header.Get("Content-Type") == string(types.ApplyYAMLPatchType); applies {
		out.Verb = "APPLY"
	} else if r.Method == http.MethodGet || asked.Verb == "deletecollection" {
		out.Verb = strings.ToUpper(asked.Verb)
	}
	if asked.DryRun {
		out.DryRun = "All"
	}
	return out
}

// watchBody is the body of a watch, which ends with it.
type watchBody struct {
	io.ReadCloser
	end func()
}

// Close implements [io.Closer].
func (b watchBody) Close() error {
	b.end()
	return b.ReadCloser.Close() //nolint:wrapcheck // It is the server's.
}
