package access

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	authorizationv1 "k8s.io/api/authorization/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"

	"github.com/dyncontroller/dyncontroller/pkg/client"
	"github.com/dyncontroller/dyncontroller/pkg/plan"
)

// timeout is how long one question may take.
const timeout = 10 * time.Second

// ErrNoAccount is what is wrong where rules act as a ServiceAccount that does not
// exist. The API server would let one act as it all the same.
var ErrNoAccount = errors.New("there is no such ServiceAccount")

// ImpersonationError says that the process may not act as a ServiceAccount.
type ImpersonationError struct {
	Account types.NamespacedName
	Err     error // the answer of the API server
}

// Error names the right that the process lacks.
func (e *ImpersonationError) Error() string {
	return fmt.Sprintf("dyncontroller may not act as ServiceAccount %s: it lacks the verb impersonate on serviceaccounts %q in namespace %s",
		e.Account, e.Account.Name, e.Account.Namespace)
}

// Unwrap returns the answer of the API server.
func (e *ImpersonationError) Unwrap() error { return e.Err }

// Impersonate returns a copy of the configuration that acts as the account, with the
// credentials of the original; for the empty account it is the same as the original.
// Groups are left to the API server: it adds system:serviceaccounts, that of the
// namespace and system:authenticated, while asking for them would take the right to
// impersonate groups. Whom the original acts as is replaced, as one cannot act as
// somebody through somebody else.
func Impersonate(config *rest.Config, account types.NamespacedName) *rest.Config {
	config = rest.CopyConfig(config)
	if account != (types.NamespacedName{}) {
		config.Impersonate = rest.ImpersonationConfig{UserName: "system:serviceaccount:" + account.Namespace + ":" + account.Name}
	}
	return config
}

// Finding is what a review has found out.
type Finding struct {
	// Account is why nobody can act as the account: [ErrNoAccount] or an
	// [ImpersonationError]; nil where it is there and may be acted as.
	Account error
	// UID tells the account from another one of the same name that came before. It is
	// empty where there is none, and for the process itself.
	UID types.UID
	// Missing are the permissions that the account lacks, sorted, of those that were reviewed.
	Missing, Reviewed []plan.Permission
}

// Reviewer asks the API server about one account. It is safe for concurrent use.
type Reviewer struct {
	account types.NamespacedName
	process rest.Interface
	as      rest.Interface // as the account
}

// NewReviewer returns a reviewer of an account, which is that of the process where it
// is empty; config is the process's own.
func NewReviewer(config *rest.Config, account types.NamespacedName) (*Reviewer, error) {
	reviews := []runtime.Object{&authorizationv1.SelfSubjectAccessReview{}, &authorizationv1.SelfSubjectRulesReview{}}
	process, err := client.For(config, authorizationv1.SchemeGroupVersion, reviews...)
	if err != nil {
		return nil, fmt.Errorf("making a client for access reviews: %w", err)
	}
	as, err := client.For(Impersonate(config, account), authorizationv1.SchemeGroupVersion, reviews...)
	if err != nil {
		return nil, fmt.Errorf("making a client for access reviews as ServiceAccount %s: %w", account, err)
	}
	return &Reviewer{account: account, process: process, as: as}, nil
}

// Review finds out what the account lacks of the permissions. An error says that the
// API server could not be asked; the UID is known even then, unless it is empty.
func (r *Reviewer) Review(ctx context.Context, permissions []plan.Permission) (Finding, error) {
	out := Finding{Reviewed: permissions}
	if r.account != (types.NamespacedName{}) {
		found, err := r.find(ctx)
		switch {
		case apierrors.IsNotFound(err), err == nil && found.DeletionTimestamp != nil: // Its tokens are good for nothing any more.
			out.Account = fmt.Errorf("%w: %s", ErrNoAccount, r.account)
			return out, nil
		case err != nil:
			return Finding{}, fmt.Errorf("asking whether there is ServiceAccount %s: %w", r.account, err)
		}
		out.UID = found.UID
	}
	missing, err := r.missing(ctx, permissions)
	if denied, is := errors.AsType[*ImpersonationError](err); is {
		out.Account = denied
		return out, nil
	}
	if err != nil {
		return Finding{UID: out.UID}, err
	}
	out.Missing = missing
	return out, nil
}

// find reads the metadata of the account.
func (r *Reviewer) find(ctx context.Context) (found metav1.PartialObjectMetadata, err error) {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	answer := r.process.Get().AbsPath("/api/v1/namespaces", r.account.Namespace, "serviceaccounts", r.account.Name).Do(ctx)
	if err = answer.Error(); err == nil { // Raw would not say what a refusal says.
		data, _ := answer.Raw()
		err = json.Unmarshal(data, &found)
	}
	return found, err //nolint:wrapcheck // The caller says what was asked.
}

// nowhere is the name of no namespace, as none can have it. So no RoleBinding counts there,
// and what is allowed there is allowed in all namespaces, and outside of them.
const nowhere = "-"

// missing has the API server list what the account may do, in each namespace. What is not
// listed is asked for by itself where the list is not complete, as with an authorizer that
// cannot list. After one error nothing more is asked, so that an API server that does not
// answer is waited for only once.
func (r *Reviewer) missing(ctx context.Context, permissions []plan.Permission) ([]plan.Permission, error) {
	lists := map[string]authorizationv1.SubjectRulesReviewStatus{}
	var missing []plan.Permission
	for _, permission := range permissions {
		namespace := cmp.Or(permission.Namespace, nowhere)
		list, known := lists[namespace]
		var err error
		if !known {
			if list, err = r.list(ctx, namespace); err != nil {
				return nil, err
			}
			lists[namespace] = list
		}
		allowed := slices.ContainsFunc(list.ResourceRules, func(rule authorizationv1.ResourceRule) bool { return allows(rule, permission) })
		if !allowed && list.Incomplete {
			if allowed, err = r.allowed(ctx, permission); err != nil {
				return nil, err
			}
		}
		if !allowed {
			missing = append(missing, permission)
		}
	}
	slices.SortFunc(missing, plan.Permission.Compare)
	return missing, nil
}

// list returns what the account may do in a namespace. Where it may not ask for that, the
// list is empty and not complete.
func (r *Reviewer) list(ctx context.Context, namespace string) (authorizationv1.SubjectRulesReviewStatus, error) {
	asking, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	review := &authorizationv1.SelfSubjectRulesReview{Spec: authorizationv1.SelfSubjectRulesReviewSpec{Namespace: namespace}}
	answer := &authorizationv1.SelfSubjectRulesReview{}
	err := r.as.Post().Resource("selfsubjectrulesreviews").Body(review).Do(asking).Into(answer)
	if err == nil {
		return answer.Status, nil
	}
	incomplete := authorizationv1.SubjectRulesReviewStatus{Incomplete: true}
	switch {
	case apierrors.IsForbidden(err):
		return incomplete, r.denied(ctx, err)
	case apierrors.IsNotFound(err), apierrors.IsInvalid(err), apierrors.IsBadRequest(err):
		return incomplete, nil
	default:
		return incomplete, fmt.Errorf("asking what ServiceAccount %s may do: %w", r.account, err)
	}
}

// allows reports whether a rule gives a permission, as RBAC reads it.
func allows(rule authorizationv1.ResourceRule, p plan.Permission) bool {
	anyOf := func(all []string, one string) bool { return slices.Contains(all, "*") || slices.Contains(all, one) }
	resource := p.Resource.Resource
	if p.Subresource != "" {
		resource += "/" + p.Subresource
	}
	return anyOf(rule.Verbs, p.Verb) && anyOf(rule.APIGroups, p.Resource.Group) &&
		(anyOf(rule.Resources, resource) || p.Subresource != "" && slices.Contains(rule.Resources, "*/"+p.Subresource)) &&
		(len(rule.ResourceNames) == 0 || slices.Contains(rule.ResourceNames, p.Name))
}

// allowed asks whether the account has a permission.
func (r *Reviewer) allowed(ctx context.Context, p plan.Permission) (bool, error) {
	allowed, err := ask(ctx, r.as, authorizationv1.ResourceAttributes{
		Verb: p.Verb, Group: p.Resource.Group, Resource: p.Resource.Resource, Subresource: p.Subresource, Namespace: p.Namespace, Name: p.Name,
	})
	if apierrors.IsForbidden(err) {
		if denied := r.denied(ctx, err); denied != nil {
			return false, denied
		}
	}
	if err != nil {
		return false, fmt.Errorf("asking whether ServiceAccount %s may %s: %w", r.account, p, err)
	}
	return allowed, nil
}

// denied tells whether it is forbidden to act as the account, or for the account to
// ask, which the text of an answer says in too many ways. It is nil for the latter.
func (r *Reviewer) denied(ctx context.Context, answer error) error {
	if r.account == (types.NamespacedName{}) {
		return nil
	}
	may, err := ask(ctx, r.process, authorizationv1.ResourceAttributes{
		Verb: "impersonate", Resource: "serviceaccounts", Namespace: r.account.Namespace, Name: r.account.Name,
	})
	switch {
	case err != nil:
		return fmt.Errorf("asking whether one may act as ServiceAccount %s: %w", r.account, err)
	case may:
		return nil
	default:
		return &ImpersonationError{Account: r.account, Err: answer}
	}
}

func ask(ctx context.Context, as rest.Interface, about authorizationv1.ResourceAttributes) (bool, error) {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	about.Version = "*"
	review := &authorizationv1.SelfSubjectAccessReview{Spec: authorizationv1.SelfSubjectAccessReviewSpec{ResourceAttributes: &about}}
	answer := &authorizationv1.SelfSubjectAccessReview{}
	if err := as.Post().Resource("selfsubjectaccessreviews").Body(review).Do(ctx).Into(answer); err != nil {
		return false, err //nolint:wrapcheck // The callers say what was asked.
	}
	return answer.Status.Allowed, nil
}
