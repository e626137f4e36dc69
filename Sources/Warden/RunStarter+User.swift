import Glibc
import Host
import Performing
import WardenProtocol

extension RunStarter {
    /// The account the order's run is to have; nil for the warden's own.
    func account(_ order: ProcessOrder) throws(StartRefused) -> Account? {
        guard let user = order.user else { return nil }
        let found: Account?
        do throws(HostError) {
            found = try Account.find(user)
        } catch {
            throw StartRefused(.exhausted, "user \"\(user)\" cannot be looked up: \(error)")
        }
        guard let found else { throw StartRefused(.noSuchUser, "this machine has no user \"\(user)\"") }
        if found.userID == geteuid() { return nil }
        guard geteuid() == 0 else {
            throw StartRefused(
                .notPermitted,
                "only a warden of root starts a job as user \"\(user)\", and this one is of user \(geteuid())"
            )
        }
        return found
    }

    /// What a job of another user begins with, and the order's own variables win: what a login of `account` would
    /// have set, and the machine's language and zone.
    ///
    /// All else is the warden's user's own: where its session is, where its programs are, its tokens.
    func variables(of account: Account) -> [String: String] {
        let common = environment.values.filter {
            ["LANG", "LANGUAGE", "TZ"].contains($0.key) || $0.key.hasPrefix("LC_")
        }
        return common.merging(
            ["HOME": account.home, "USER": account.name, "LOGNAME": account.name, "SHELL": account.shell]
        ) { $1 }
    }

    /// Makes `child` change its user by `setpriv`, as its last step before the program itself.
    ///
    /// Between clone and exec the C library may not change users: it would change the warden's threads.
    func change(_ child: inout ChildProgram, to account: Account) throws(StartRefused) {
        let file = child.path.hasPrefix("/") ? child.path : (child.folder ?? "/") + "/" + child.path
        try ProgramSearch.check(file, named: child.path)
        child.arguments =
            [
                "setpriv", "--reuid=\(account.userID)", "--regid=\(account.groupID)", "--init-groups",
                "--inh-caps=-all", "--", file,
            ] + child.arguments.dropFirst()
        child.path = try ProgramSearch.find("setpriv", path: "/usr/bin:/bin:/usr/sbin:/sbin")
    }
}
