package main

import (
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/http"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/aws/smithy-go"
	smithyhttp "github.com/aws/smithy-go/transport/http"
	"gocloud.dev/gcerrors"
	"google.golang.org/api/googleapi"
)

// The rights that an operation takes, as docs/store.md has them.
const (
	listing  = "to list, on S3 the action ListBucket"
	reading  = "to read, on S3 the actions GetObject and ListBucket"
	writing  = "to write, on S3 the action PutObject"
	deleting = "to delete, on S3 the actions GetObject, ListBucket and DeleteObject" // gocloud.dev asks first whether the object is there
)

// explain adds what is wanted to the error of an operation that was refused, had no room, or was signed at another time than the store's.
// right is what the operation takes. gcerrors can't say it: S3's refusals have the code Unknown there, and GCS's ResourceExhausted is a
// limit of requests a second.
func explain(err error, right string) error {
	if err == nil {
		return nil
	}
	status, code := answer(err)
	switch {
	case code == "RequestTimeTooSkewed":
		return fmt.Errorf("%w: want the clock of this machine set right, for example by NTP", err)
	case status == http.StatusInsufficientStorage, noRoom(code):
		return fmt.Errorf("%w: want room in the bucket or a larger quota: nodesim tapes prune removes old tapes", err)
	case status == http.StatusForbidden, status == http.StatusUnauthorized, gcerrors.Code(err) == gcerrors.PermissionDenied:
		return fmt.Errorf("%w: want credentials with the right %s (docs/store.md#urls)", err, right)
	}
	return err
}

// noRoom reports whether a code of S3 says that a bucket is full: Ceph and versitygw have it with the status 403, MinIO with 400 and 507.
func noRoom(code string) bool {
	return code == "QuotaExceeded" || code == "XMinioStorageFull" || code == "XMinioAdminBucketQuotaExceeded"
}

// answer is what a store has answered: the status of HTTP, and the code of the error. They are zero where it hasn't answered.
func answer(err error) (status int, code string) {
	var api smithy.APIError
	if errors.As(err, &api) {
		code = api.ErrorCode()
	}
	var s3 *smithyhttp.ResponseError
	var azure *azcore.ResponseError
	var gcs *googleapi.Error
	switch {
	case errors.As(err, &s3):
		status = s3.HTTPStatusCode()
	case errors.As(err, &azure):
		status, code = azure.StatusCode, azure.ErrorCode
	case errors.As(err, &gcs):
		status = gcs.Code
	}
	return status, code
}

// missing says of an object that isn't there what the store looks for. gocloud.dev also takes for that: a right that lacks at GCS (gcsblob,
// ErrorCode), a host that isn't known at Azure (azureblob, ErrorCode), and any error of S3 whose text has the digits 301, as a port or the
// ID of a request may (s3blob, ErrorCode).
func missing(key string, err error) error {
	if gcerrors.Code(err) != gcerrors.NotFound {
		return err
	}
	status, _ := answer(err)
	var s3 *smithy.OperationError
	var unknown *net.DNSError
	if status == http.StatusNotFound || status == 0 && !errors.As(err, &s3) && !errors.As(err, &unknown) {
		return fmt.Errorf("%s: %w", key, fs.ErrNotExist)
	}
	return err
}
