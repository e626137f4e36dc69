import Glibc
import Host
import Performing

/// An order that cannot be carried out.
///
/// Nothing was started.
struct StartRefused: Error {
    var refusal: Refusal
    /// A sentence for a person, without a full stop.
    var text: String
    /// Whether it is the control group that the kernel would not start it in.
    var isOfControlGroup = false

    init(_ refusal: Refusal, _ text: String) {
        self.refusal = refusal
        self.text = text
    }

    /// What a failed system call of the start means.
    init(_ error: HostError, otherwise: Refusal = .other) {
        switch error.code {
        case EAGAIN, ENOMEM, EMFILE, ENFILE, ENOSPC, EDQUOT: self.init(.exhausted, "\(error)")
        default: self.init(otherwise, "\(error)")
        }
    }
}
