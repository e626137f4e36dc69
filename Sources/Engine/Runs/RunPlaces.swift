/// Where runs find things, and where they leave them.
package struct RunPlaces: Hashable, Sendable {
    /// The folder of the runs' output.
    package var outputFolder: String
    /// The control socket, passed to each job.
    package var socket: String
    /// This boot of the machine.
    package var boot: String

    package init(outputFolder: String, socket: String, boot: String) {
        self.outputFolder = outputFolder
        self.socket = socket
        self.boot = boot
    }

    /// Where an attempt's output begins: a folder each job, so that no listing is longer than one job's.
    ///
    /// A job's name is one of a file, too, and a run's id is a UUID, so the path is safe.
    package func output(of run: String, job: String, attempt: Int) -> String {
        "\(outputFolder)/\(job)/\(run).\(attempt).log"
    }
}
