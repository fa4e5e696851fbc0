package live

import (
	"context"
	"fmt"
	"strconv"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/dyncontroller/dyncontroller/pkg/plan"
)

// pageSize is how many objects are asked for at once.
const pageSize = 500

// restarts is how often a list may begin anew. What a continue token stands for is
// kept for some minutes: who takes longer for a page never comes to the end.
const restarts = 5

// List visits the objects of a selection page by page, until visit returns an error,
// which is returned. A continue token that has expired starts it over, so that
// objects may be visited twice, and one that was visited may be gone. The objects
// are the visitor's own.
func (r *Reader) List(ctx context.Context, from plan.Selection, visit func(object map[string]any) error) error {
	return r.list(ctx, from, func() {}, visit)
}

// list tells in again that what was visited so far will be visited anew.
func (r *Reader) list(ctx context.Context, from plan.Selection, again func(), visit func(object map[string]any) error) error {
	token := ""
	for restarted := 0; ; {
		page, err := r.page(ctx, from, token)
		switch {
		case token != "" && isExpired(err) && restarted < restarts:
			restarted++
			token = ""
			again()
			continue
		case err != nil:
			return fmt.Errorf("listing %s: %w", describe(from), err)
		}
		for _, item := range page.Items {
			if err := visit(item.Object); err != nil {
				return err
			}
		}
		if token = page.GetContinue(); token == "" {
			return nil
		}
	}
}

func (r *Reader) page(ctx context.Context, from plan.Selection, token string) (*unstructured.UnstructuredList, error) {
	ctx, cancel := context.WithTimeout(ctx, Timeout)
	defer cancel()
	request := r.at(from.GVR, from.Namespace).Param("limit", strconv.Itoa(pageSize))
	for name, value := range map[string]string{
		"labelSelector": from.LabelSelector, "fieldSelector": from.FieldSelector, "continue": token,
	} {
		if value != "" {
			request = request.Param(name, value)
		}
	}
	page := &unstructured.UnstructuredList{}
	err := request.Do(ctx).Into(page)
	if err == nil {
		err = checkKind(page.GetKind())
	}
	return page, err
}

func isExpired(err error) bool { return apierrors.IsResourceExpired(err) || apierrors.IsGone(err) }

func describe(from plan.Selection) string {
	name := plan.ResourceName(from.GVR)
	if from.Namespace != "" {
		name += " in " + from.Namespace
	}
	return name
}
