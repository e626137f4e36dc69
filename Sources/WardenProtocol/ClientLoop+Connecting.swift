import Host

extension ClientLoop {
    /// Connects to the warden in charge, and to those that only finish their runs.
    func connect(_ launch: WardenLaunch?) throws(WardenError) -> WardenHello {
        dropAll()
        var (connection, hello) = try join(launch)
        try add(connection, hello, isRetired: false)
        for folder in retiredFolders() {
            guard let (older, theirs) = try? greet(folder) else { continue }
            try add(older, theirs, isRetired: true)
            hello.runs += theirs.runs
        }
        // Frames that came together with the hellos are waiting already.
        for token in wardens.keys.sorted() { readFrames(token) }
        return hello
    }

    /// The warden in charge: the one that answers, unless it is another build than the one to launch; then
    /// it finishes its runs, and a new one takes over.
    private func join(_ launch: WardenLaunch?) throws(WardenError) -> (ClientConnection, WardenHello) {
        do throws(WardenError) {
            let (connection, hello) = try greet(directory)
            guard let launch, hello.mayRetire, let build = Machine.build(of: launch.executable),
                hello.build != build
            else { return (connection, hello) }
            var old = connection
            // One that cannot is still in charge.
            guard try old.retire() else { return try greet(directory) }
        } catch {
            guard case .noWarden = error, launch != nil else { throw error }
        }
        if let launch { try self.launch(launch) }
        return try greet(directory)
    }

    private func greet(_ folder: String) throws(WardenError) -> (ClientConnection, WardenHello) {
        var connection = try ClientConnection(directory: folder)
        // Before the copy: what came together with the hello stays in it.
        let hello = try connection.shakeHands()
        return (connection, hello)
    }

    private func retiredFolders() -> [String] {
        let folder = directory + "/old"
        return ((try? Folder.names(in: folder)) ?? []).sorted().map { folder + "/" + $0 }
    }
}
