import API

/// A failure of `belfry exec` itself: a wrapper must be able to distinguish it from one of the command.
struct ExecFailure: Error {
    let error: APIError

    init(_ error: APIError) {
        self.error = error
    }

    /// 125, as the contract says; 2 where the command line is to blame.
    var code: Int32 { error.code.row.exitCode == 2 ? 2 : 125 }
}
