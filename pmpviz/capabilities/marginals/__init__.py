"""The Frank-Wolfe page: marginals and log Z by MAP calls and by messages."""
