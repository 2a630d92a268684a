#include "errors.h"

#include <cerrno>
#include <cstring>

namespace workspace_authority {
namespace {

const char* refusal_name(Refusal refusal) {
  switch (refusal) {
    case Refusal::none: return "EUNKNOWN";
    case Refusal::not_regular: return "WA_NOT_REGULAR";
    case Refusal::closed_directory: return "WA_CLOSED_DIRECTORY";
    case Refusal::handle_closed: return "WA_HANDLE_CLOSED";
    case Refusal::writer_open: return "WA_WRITER_OPEN";
    case Refusal::metadata: return "WA_METADATA";
    case Refusal::parent_moved: return "WA_PARENT_MOVED";
  }
  return "EUNKNOWN";
}

napi_value string_of(napi_env env, const char* text) {
  napi_value value = nullptr;
  napi_create_string_latin1(env, text, NAPI_AUTO_LENGTH, &value);
  return value;
}

}  // namespace

// strerrorname_np(3) would raise the oldest usable glibc to 2.32, and musl lacks it.
const char* errno_name(int error) {
  switch (error) {
    case EPERM: return "EPERM";
    case ENOENT: return "ENOENT";
    case ESRCH: return "ESRCH";
    case EINTR: return "EINTR";
    case EIO: return "EIO";
    case ENXIO: return "ENXIO";
    case E2BIG: return "E2BIG";
    case ENOEXEC: return "ENOEXEC";
    case EBADF: return "EBADF";
    case ECHILD: return "ECHILD";
    case EAGAIN: return "EAGAIN";
    case ENOMEM: return "ENOMEM";
    case EACCES: return "EACCES";
    case EFAULT: return "EFAULT";
    case ENOTBLK: return "ENOTBLK";
    case EBUSY: return "EBUSY";
    case EEXIST: return "EEXIST";
    case EXDEV: return "EXDEV";
    case ENODEV: return "ENODEV";
    case ENOTDIR: return "ENOTDIR";
    case EISDIR: return "EISDIR";
    case EINVAL: return "EINVAL";
    case ENFILE: return "ENFILE";
    case EMFILE: return "EMFILE";
    case ENOTTY: return "ENOTTY";
    case ETXTBSY: return "ETXTBSY";
    case EFBIG: return "EFBIG";
    case ENOSPC: return "ENOSPC";
    case ESPIPE: return "ESPIPE";
    case EROFS: return "EROFS";
    case EMLINK: return "EMLINK";
    case EPIPE: return "EPIPE";
    case EDOM: return "EDOM";
    case ERANGE: return "ERANGE";
    case EDEADLOCK: return "EDEADLOCK";
    case ENAMETOOLONG: return "ENAMETOOLONG";
    case ENOLCK: return "ENOLCK";
    case ENOSYS: return "ENOSYS";
    case ENOTEMPTY: return "ENOTEMPTY";
    case ELOOP: return "ELOOP";
    case ENOMSG: return "ENOMSG";
    case EIDRM: return "EIDRM";
    case ECHRNG: return "ECHRNG";
    case EL2NSYNC: return "EL2NSYNC";
    case EL3HLT: return "EL3HLT";
    case EL3RST: return "EL3RST";
    case ELNRNG: return "ELNRNG";
    case EUNATCH: return "EUNATCH";
    case ENOCSI: return "ENOCSI";
    case EL2HLT: return "EL2HLT";
    case EBADE: return "EBADE";
    case EBADR: return "EBADR";
    case EXFULL: return "EXFULL";
    case ENOANO: return "ENOANO";
    case EBADRQC: return "EBADRQC";
    case EBADSLT: return "EBADSLT";
    case EBFONT: return "EBFONT";
    case ENOSTR: return "ENOSTR";
    case ENODATA: return "ENODATA";
    case ETIME: return "ETIME";
    case ENOSR: return "ENOSR";
    case ENONET: return "ENONET";
    case ENOPKG: return "ENOPKG";
    case EREMOTE: return "EREMOTE";
    case ENOLINK: return "ENOLINK";
    case EADV: return "EADV";
    case ESRMNT: return "ESRMNT";
    case ECOMM: return "ECOMM";
    case EPROTO: return "EPROTO";
    case EMULTIHOP: return "EMULTIHOP";
    case EDOTDOT: return "EDOTDOT";
    case EBADMSG: return "EBADMSG";
    case EOVERFLOW: return "EOVERFLOW";
    case ENOTUNIQ: return "ENOTUNIQ";
    case EBADFD: return "EBADFD";
    case EREMCHG: return "EREMCHG";
    case ELIBACC: return "ELIBACC";
    case ELIBBAD: return "ELIBBAD";
    case ELIBSCN: return "ELIBSCN";
    case ELIBMAX: return "ELIBMAX";
    case ELIBEXEC: return "ELIBEXEC";
    case EILSEQ: return "EILSEQ";
    case ERESTART: return "ERESTART";
    case ESTRPIPE: return "ESTRPIPE";
    case EUSERS: return "EUSERS";
    case ENOTSOCK: return "ENOTSOCK";
    case EDESTADDRREQ: return "EDESTADDRREQ";
    case EMSGSIZE: return "EMSGSIZE";
    case EPROTOTYPE: return "EPROTOTYPE";
    case ENOPROTOOPT: return "ENOPROTOOPT";
    case EPROTONOSUPPORT: return "EPROTONOSUPPORT";
    case ESOCKTNOSUPPORT: return "ESOCKTNOSUPPORT";
    case ENOTSUP: return "ENOTSUP";
    case EPFNOSUPPORT: return "EPFNOSUPPORT";
    case EAFNOSUPPORT: return "EAFNOSUPPORT";
    case EADDRINUSE: return "EADDRINUSE";
    case EADDRNOTAVAIL: return "EADDRNOTAVAIL";
    case ENETDOWN: return "ENETDOWN";
    case ENETUNREACH: return "ENETUNREACH";
    case ENETRESET: return "ENETRESET";
    case ECONNABORTED: return "ECONNABORTED";
    case ECONNRESET: return "ECONNRESET";
    case ENOBUFS: return "ENOBUFS";
    case EISCONN: return "EISCONN";
    case ENOTCONN: return "ENOTCONN";
    case ESHUTDOWN: return "ESHUTDOWN";
    case ETOOMANYREFS: return "ETOOMANYREFS";
    case ETIMEDOUT: return "ETIMEDOUT";
    case ECONNREFUSED: return "ECONNREFUSED";
    case EHOSTDOWN: return "EHOSTDOWN";
    case EHOSTUNREACH: return "EHOSTUNREACH";
    case EALREADY: return "EALREADY";
    case EINPROGRESS: return "EINPROGRESS";
    case ESTALE: return "ESTALE";
    case EUCLEAN: return "EUCLEAN";
    case ENOTNAM: return "ENOTNAM";
    case ENAVAIL: return "ENAVAIL";
    case EISNAM: return "EISNAM";
    case EREMOTEIO: return "EREMOTEIO";
    case EDQUOT: return "EDQUOT";
    case ENOMEDIUM: return "ENOMEDIUM";
    case EMEDIUMTYPE: return "EMEDIUMTYPE";
    case ECANCELED: return "ECANCELED";
    case ENOKEY: return "ENOKEY";
    case EKEYEXPIRED: return "EKEYEXPIRED";
    case EKEYREVOKED: return "EKEYREVOKED";
    case EKEYREJECTED: return "EKEYREJECTED";
    case EOWNERDEAD: return "EOWNERDEAD";
    case ENOTRECOVERABLE: return "ENOTRECOVERABLE";
    case ERFKILL: return "ERFKILL";
    default: return "EUNKNOWN";
  }
}

napi_value make_error(napi_env env, const Failure& failure) {
  const bool refused = failure.refusal != Refusal::none;
  napi_value code = string_of(env, refused ? refusal_name(failure.refusal) : errno_name(failure.error));
  napi_value error = nullptr;
  if (napi_create_error(env, code, code, &error) != napi_ok) return nullptr;
  napi_value number = nullptr;
  napi_create_int32(env, -failure.error, &number);
  napi_set_named_property(env, error, "errno", number);
  if (failure.syscall != nullptr) {
    napi_set_named_property(env, error, "syscall", string_of(env, failure.syscall));
  }
  return error;
}

napi_value throw_failure(napi_env env, const Failure& failure) {
  napi_throw(env, make_error(env, failure));
  return nullptr;
}

napi_value reject_failure(napi_env env, const Failure& failure) {
  napi_deferred deferred = nullptr;
  napi_value promise = nullptr;
  if (napi_create_promise(env, &deferred, &promise) != napi_ok) return nullptr;
  napi_reject_deferred(env, deferred, make_error(env, failure));
  return promise;
}

napi_value reject_pending(napi_env env) {
  napi_value exception = nullptr;
  if (napi_get_and_clear_last_exception(env, &exception) != napi_ok) return nullptr;
  napi_deferred deferred = nullptr;
  napi_value promise = nullptr;
  if (napi_create_promise(env, &deferred, &promise) != napi_ok) return nullptr;
  napi_reject_deferred(env, deferred, exception);
  return promise;
}

}  // namespace workspace_authority
