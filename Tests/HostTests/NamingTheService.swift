import Host
import Testing

@Suite struct `the service of a process` {
    @Test(arguments: [
        ("0::/system.slice/belfryd.service\n", "belfryd.service", "systemctl"),
        (
            "0::/user.slice/user-1000.slice/user@1000.service/app.slice/belfryd.service\n", "belfryd.service",
            "systemctl --user"
        ),
        (
            "12:pids:/x\n1:name=systemd:/system.slice/belfryd.service\n0::/\n", "belfryd.service",
            "systemctl"
        ),
    ])
    func `is named by its group, and so is its manager`(membership: String, name: String, control: String) {
        let unit = ServiceUnit(membership: membership)
        #expect(unit?.name == name && unit?.control == control)
    }

    @Test(arguments: [
        "", "0::/\n", "0::/user.slice/user-1000.slice/session-2.scope\n", "nonsense",
        "0::/user.slice/user-1000.slice/user@1000.service/app.slice/app-term.scope\n",
        "0::/user.slice/user-1000.slice/user@1000.service\n", "5:cpu:/system.slice/x.service\n",
    ])
    func `is none in a terminal or a container`(membership: String) {
        #expect(ServiceUnit(membership: membership) == nil)
    }
}
