package e2e

import (
	"context"
	"encoding/json"
	"encoding/pem"
	"net/http"
	"net/http/httptest"
	"testing"

	admissionv1 "k8s.io/api/admission/v1"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	"k8s.io/client-go/kubernetes"
	"k8s.io/utils/ptr"
)

// mutate has a webhook change the data of each ConfigMap of a namespace that is updated, until the function that it
// returns is called, or the test ends.
func mutate(t *testing.T, namespace string, change func(object map[string]any)) (remove func()) {
	t.Helper()
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var review admissionv1.AdmissionReview
		if err := json.NewDecoder(r.Body).Decode(&review); err != nil {
			t.Error(err)
			return
		}
		review.Response = &admissionv1.AdmissionResponse{
			UID: review.Request.UID, Allowed: true,
			Patch: changeOfData(t, review.Request.Object.Raw, change), PatchType: ptr.To(admissionv1.PatchTypeJSONPatch),
		}
		if err := json.NewEncoder(w).Encode(review); err != nil {
			t.Error(err)
		}
	}))
	t.Cleanup(server.Close)
	clients, err := kubernetes.NewForConfig(cluster(t).RESTConfig())
	if err != nil {
		t.Fatal(err)
	}
	configurations := clients.AdmissionregistrationV1().MutatingWebhookConfigurations()
	_, err = configurations.Create(t.Context(), webhookOf(server, namespace), metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	remove = func() {
		_ = configurations.Delete(context.WithoutCancel(t.Context()), namespace, metav1.DeleteOptions{})
	}
	t.Cleanup(remove)
	return remove
}

// webhookOf has the API server ask a server about updates of ConfigMaps.
func webhookOf(server *httptest.Server, namespace string) *admissionregistrationv1.MutatingWebhookConfiguration {
	bundle := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
	return &admissionregistrationv1.MutatingWebhookConfiguration{
		ObjectMeta: metav1.ObjectMeta{Name: namespace},
		Webhooks: []admissionregistrationv1.MutatingWebhook{{
			Name:         "rival.example.com",
			ClientConfig: admissionregistrationv1.WebhookClientConfig{URL: new(server.URL), CABundle: bundle},
			Rules: []admissionregistrationv1.RuleWithOperations{{
				Operations: []admissionregistrationv1.OperationType{admissionregistrationv1.Update},
				Rule:       admissionregistrationv1.Rule{APIGroups: []string{""}, APIVersions: []string{"v1"}, Resources: []string{"configmaps"}},
			}},
			NamespaceSelector:       &metav1.LabelSelector{MatchLabels: map[string]string{"kubernetes.io/metadata.name": namespace}},
			SideEffects:             ptr.To(admissionregistrationv1.SideEffectClassNone),
			AdmissionReviewVersions: []string{"v1"},
		}},
	}
}

// changeOfData is a JSON patch that leaves the data of an object as the function does.
func changeOfData(t *testing.T, raw []byte, change func(object map[string]any)) []byte {
	var object map[string]any
	if err := utiljson.Unmarshal(raw, &object); err != nil {
		t.Error(err)
		return nil
	}
	change(object)
	patch, err := json.Marshal([]map[string]any{{"op": "replace", "path": "/data", "value": object["data"]}})
	if err != nil {
		t.Error(err)
	}
	return patch
}
