"""The reading page: mounts the reading component, which does everything else."""

from study.roles import Act
from ui import viewer
from ui.access import guard

guard(Act.READ)
viewer.mount(
    desk_url="desk",
    modules_url=viewer.modules_url(),
    sign_out_url="sign-out",
)
